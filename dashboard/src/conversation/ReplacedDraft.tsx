import { Button } from "../ui/Button.tsx";
import { Notice } from "../ui/Notice.tsx";
import { type Draft, lineOf } from "./draft.ts";

interface ReplacedDraftProps {
  draft: Draft;
  onRestore: () => void;
  /** Called after the person has decided. */
  onEnd: () => void;
}

/** A draft that a message of before replaced, to bring back. */
export function ReplacedDraft({ draft, onRestore, onEnd }: ReplacedDraftProps) {
  const restore = () => {
    onRestore();
    onEnd();
  };
  return (
    <div className="mx-auto w-full max-w-3xl px-3 pb-2 md:px-4">
      <Notice
        title="Your draft was replaced"
        action={
          <span className="flex gap-2">
            <Button onClick={restore}>Restore it</Button>
            <Button kind="quiet" onClick={onEnd}>
              Dismiss
            </Button>
          </span>
        }
      >
        <span className="line-clamp-2">{lineOf(draft)}</span>
      </Notice>
    </div>
  );
}
