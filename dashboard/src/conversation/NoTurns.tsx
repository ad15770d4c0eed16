import type { Agent } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useModel } from "../agents/use-model.ts";
import { conversationsQuery } from "../api/queries.ts";
import { Button } from "../ui/Button.tsx";
import { useMay } from "../workspace/use-may.ts";

const tasks = [
  "Look around in your machine, and tell me what you can do here.",
  "Build a small web page about lighthouses, and serve it on port 3000.",
  "Clone https://github.com/… and explain how it is built.",
];

/** The demonstration model runs a command, and does nothing else. */
const demoTasks = ["run: uname -a", "run: ls -la", "run: df -h /"];

interface NoTurnsProps {
  agent: Agent;
  conversation: number;
  /** Puts a text into the message. */
  onSuggest: (text: string) => void;
}

/** A conversation without messages, with what one could say. */
export function NoTurns({ agent, conversation, onSuggest }: NoTurnsProps) {
  const { name, status, forkedFrom } = agent;
  const mayUse = useMay("use");
  const { isDemo } = useModel(agent);
  const { data: conversations = [] } = useQuery(conversationsQuery(name));
  // A conversation has a title once it has begun: this one did so in the source.
  const isRemembered = conversations.some(({ id, title }) => id === conversation && title !== null);
  if (forkedFrom && isRemembered) return <Forked from={forkedFrom} conversation={conversation} />;
  if (status === "failed") return <div className="flex-1" />;
  return (
    <div className="grid min-h-0 flex-1 place-content-center justify-items-center gap-1 overflow-y-auto p-6 text-center">
      <p className="text-lg font-semibold">{status === "provisioning" ? "Your first message" : `${name} is ready`}</p>
      <p className="text-sm text-muted">
        {status === "provisioning"
          ? "You can write it now. The agent begins as soon as its machine is ready."
          : "Describe a task. The agent works in its own machine, and keeps its files."}
      </p>
      {mayUse && (
        <ul aria-label="Suggestions" className="mt-4 grid w-full max-w-md gap-2">
          {(isDemo ? demoTasks : tasks).map((text) => (
            <li key={text}>
              <Button className="w-full !justify-start text-left font-normal" onClick={() => onSuggest(text)}>
                {text}
              </Button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** A conversation that a fork has from its source, whose turns stay there. */
function Forked({
  from: { agent, snapshot },
  conversation,
}: {
  from: NonNullable<Agent["forkedFrom"]>;
  conversation: number;
}) {
  return (
    <div className="grid min-h-0 flex-1 place-content-center justify-items-center gap-1 p-6 text-center">
      <p className="text-lg font-semibold">Forked from {agent}</p>
      <p className="max-w-prose text-sm text-muted">
        This agent remembers the conversation, and has the files, of{" "}
        {snapshot === null ? "the moment of the fork" : `the snapshot “${snapshot}”`}. The earlier messages stay with{" "}
        <Link to="/agents/$name" params={{ name: agent }} search={{ conversation }} className="text-accent underline">
          {agent}
        </Link>
        .
      </p>
    </div>
  );
}
