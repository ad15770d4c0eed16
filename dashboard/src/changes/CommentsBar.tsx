import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { agentQuery } from "../api/queries.ts";
import type { Draft } from "../conversation/draft.ts";
import { Button } from "../ui/Button.tsx";
import { Confirm } from "../ui/Confirm.tsx";
import { useStoredState } from "../ui/stored-state.ts";
import { type Comments, maximumComments, messageOfComments, writtenOf } from "./comments.ts";

/** The comments that are written, and the button that sends them as one message. */
export function CommentsBar({ agent, comments }: { agent: string; comments: Comments }) {
  const { data } = useQuery(agentQuery(agent));
  const written = writtenOf(comments);
  if (written.length === 0 || !data) return null;
  return <Bar agent={agent} conversation={data.conversation} comments={comments} />;
}

interface BarProps {
  agent: string;
  conversation: number;
  comments: Comments;
}

function Bar({ agent, conversation, comments }: BarProps) {
  const navigate = useNavigate();
  // The conversation sends it, or puts it into the queue, and shows why it was refused.
  const [unsent, setUnsent] = useStoredState<readonly Draft[]>(`unsent messages ${agent} ${conversation}`, []);
  const written = writtenOf(comments);
  const send = () => {
    setUnsent([...unsent, { text: messageOfComments(written), files: [] }]);
    comments.clear();
    void navigate({
      to: "/agents/$name",
      params: { name: agent },
      search: (before: object) => ({ ...before, conversation: undefined }),
    });
  };
  return (
    <section
      aria-label="Comments"
      className="sticky bottom-0 z-20 flex flex-wrap items-center justify-end gap-2 border-t bg-raised px-4 py-2"
    >
      <p className="mr-auto text-sm" role="status">
        {written.length === 1 ? "1 comment" : `${written.length} comments`}
        {written.length === maximumComments && ". Send them before you write more."}
      </p>
      <Confirm
        trigger={(open) => (
          <Button kind="quiet" onClick={open}>
            Discard all
          </Button>
        )}
        title="Discard all comments?"
        action="Discard"
        onConfirm={async () => comments.clear()}
      >
        They have not been sent.
      </Confirm>
      <Button kind="primary" onClick={send}>
        Send to {agent}
      </Button>
    </section>
  );
}
