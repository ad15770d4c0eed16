import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { berth } from "../api/client.ts";
import { Button } from "../ui/Button.tsx";
import { Input } from "../ui/Field.tsx";
import { messageOf } from "../ui/message.ts";
import { Notice } from "../ui/Notice.tsx";
import { useAgentName } from "./agent-name.ts";

/** Lines that are kept here; the machine keeps more. */
const keptLines = 5_000;
const firstLines = 1_000;

/** The output of the agent's runner and runtime, as it comes. */
export function Logs() {
  const name = useAgentName();
  const [opened, setOpened] = useState(0);
  return <Followed key={`${name} ${opened}`} name={name} onAgain={() => setOpened(opened + 1)} />;
}

function Followed({ name, onAgain }: { name: string; onAgain: () => void }) {
  const { lines, end } = useLog(name);
  const [search, setSearch] = useState("");
  const [isFollowing, setFollowing] = useState(true);
  const box = useRef<HTMLPreElement>(null);
  const shown = search === "" ? lines : lines.filter((line) => line.toLowerCase().includes(search.toLowerCase()));
  // biome-ignore lint/correctness/useExhaustiveDependencies: at each change of what is shown
  useLayoutEffect(() => {
    if (isFollowing && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines, isFollowing, search]);
  return (
    <div className="flex min-h-64 flex-1 flex-col gap-3 p-3 md:p-4">
      <div className="flex flex-wrap items-center gap-3">
        <Input
          type="search"
          aria-label="Search the log"
          placeholder="Search"
          className="max-w-72"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
        <label className="flex items-center gap-2 text-sm">
          <input type="checkbox" checked={isFollowing} onChange={(event) => setFollowing(event.target.checked)} />
          Follow
        </label>
        <span className="text-sm text-muted">{shown.length === 1 ? "1 line" : `${shown.length} lines`}</span>
      </div>
      {end !== null && <Notice action={<Button onClick={onAgain}>Read again</Button>}>{end}</Notice>}
      <pre
        ref={box}
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label="Log"
        className="min-h-0 flex-1 overflow-auto rounded-xl border bg-surface p-3 font-mono text-[13px] whitespace-pre-wrap wrap-anywhere"
      >
        {shown.length === 0 ? (
          <span className="text-muted">{search === "" ? "No lines yet" : "No matching lines"}</span>
        ) : (
          shown.join("\n")
        )}
      </pre>
    </div>
  );
}

function useLog(name: string): { lines: readonly string[]; end: string | null } {
  const [lines, setLines] = useState<readonly string[]>([]);
  const [end, setEnd] = useState<string | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    let waiting: string[] = [];
    // Many lines in a moment are shown at once.
    const timer = setInterval(() => {
      if (waiting.length === 0) return;
      const fresh = waiting;
      waiting = [];
      setLines((before) => [...before, ...fresh].slice(-keptLines));
    }, 100);
    const follow = async () => {
      for await (const event of berth.agent(name).followLog({ tail: firstLines }, { signal: abort.signal })) {
        if ("line" in event) waiting.push(event.line);
        else setEnd("The machine is suspended or has stopped. Its log continues when it wakes.");
      }
    };
    follow().catch((error: unknown) => abort.signal.aborted || setEnd(messageOf(error)));
    return () => {
      abort.abort();
      clearInterval(timer);
    };
  }, [name]);
  return { lines, end };
}
