import { useQuery } from "@tanstack/react-query";
import { useAgentName } from "../agent/agent-name.ts";
import { Button } from "../ui/Button.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { Empty } from "../ui/Notice.tsx";
import { useMay } from "../workspace/use-may.ts";
import { ChangedFiles } from "./ChangedFiles.tsx";
import { CommentsBar } from "./CommentsBar.tsx";
import { type Comments, useComments } from "./comments.ts";
import { type Layout, useDiffLayout } from "./diff-layout.ts";
import { SourceChoice } from "./SourceChoice.tsx";
import { changesQuery, type Source, useSource } from "./source.ts";

/** Files that turns changed: their diffs, comments on lines, reverts. */
export function Changes() {
  const name = useAgentName();
  const { query, turns, source } = useSource(name);
  const { layout, isWide, choose } = useDiffLayout();
  const comments = useComments(name);
  const mayUse = useMay("use");
  return (
    <>
      <div className="@container mx-auto w-full max-w-[110rem] px-4 py-6 md:px-8">
        <div className="grid gap-4">
          <h2 className="sr-only">Changes</h2>
          <Loaded query={query}>
            {() =>
              source === null ? (
                <Empty title="No changes yet">Files that turns create, change and delete are shown here.</Empty>
              ) : (
                <>
                  <div className="flex flex-wrap items-center gap-3">
                    <SourceChoice agent={name} turns={turns} />
                    {isWide && <LayoutChoice layout={layout} onChoose={choose} />}
                    <p className="ml-auto hidden text-xs text-muted @4xl:block">
                      <kbd>j</kbd> <kbd>k</kbd> next and previous file, <kbd>n</kbd> <kbd>p</kbd> next and previous
                      change
                    </p>
                  </div>
                  <Review agent={name} source={source} layout={layout} comments={mayUse ? comments : null} />
                </>
              )
            }
          </Loaded>
        </div>
      </div>
      {mayUse && <CommentsBar agent={name} comments={comments} />}
    </>
  );
}

interface ReviewProps {
  agent: string;
  source: Source;
  layout: Layout;
  comments: Comments | null;
}

function Review({ agent, source, layout, comments }: ReviewProps) {
  const query = useQuery(changesQuery(agent, source));
  const missing = (
    <Empty title="These changes are not known">
      The turn or the snapshot does not exist, or what the turn changed was lost.
    </Empty>
  );
  return (
    <Loaded query={query} missing={missing}>
      {(changes) => (
        <ChangedFiles
          key={source.kind === "turn" ? source.turnId : source.since}
          agent={agent}
          source={source}
          changes={changes}
          layout={layout}
          comments={comments}
        />
      )}
    </Loaded>
  );
}

const layouts = { unified: "Unified", split: "Side by side" } as const;

function LayoutChoice({ layout, onChoose }: { layout: Layout; onChoose: (layout: Layout) => void }) {
  return (
    <fieldset className="flex gap-1">
      <legend className="sr-only">Layout</legend>
      {(["unified", "split"] as const).map((each) => (
        <Button
          key={each}
          kind={layout === each ? "plain" : "quiet"}
          aria-pressed={layout === each}
          onClick={() => onChoose(each)}
        >
          {layouts[each]}
        </Button>
      ))}
    </fieldset>
  );
}
