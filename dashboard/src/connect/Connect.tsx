import { useQueryClient } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { useAgentName } from "../agent/agent-name.ts";
import { Tab } from "../agent/Tab.tsx";
import { berth } from "../api/client.ts";
import { keysQuery } from "../api/queries.ts";
import { Button } from "../ui/Button.tsx";
import { CopyButton, Once } from "../ui/CopyButton.tsx";
import { classes } from "../ui/classes.ts";
import { Failure } from "../ui/Failure.tsx";
import { nameIn, useFilters } from "../ui/filters.ts";
import { useAction } from "../ui/use-action.ts";
import { Section } from "../ui/View.tsx";
import { clients } from "./snippets.ts";

const placeholder = "YOUR_KEY";

/** How programs use the agent, ready to copy. */
export function Connect() {
  const agent = useAgentName();
  return <ConnectTo key={agent} agent={agent} />;
}

function ConnectTo({ agent }: { agent: string }) {
  const [filters, change] = useFilters<"client">();
  const chosen = nameIn(clients, filters.client) ?? "curl";
  const [key, setKey] = useState<string | null>(null);
  const { note, hasKey, snippets } = clients[chosen];
  return (
    <Tab>
      <Section title="Connect">
        <p className="text-sm text-muted">Use {agent} from your own programs, an assistant, an editor or a terminal.</p>
        <fieldset className="flex flex-wrap gap-2">
          <legend className="sr-only">Client</legend>
          {Object.entries(clients).map(([id, { label }]) => (
            <label
              key={id}
              className={classes(
                "tap cursor-pointer rounded-full border px-3 py-1 text-sm has-focus-visible:outline-2",
                id === chosen ? "border-accent bg-accent-soft font-medium" : "text-muted hover:text-ink",
              )}
            >
              <input
                type="radio"
                name="client"
                className="sr-only"
                checked={id === chosen}
                onChange={() => change({ client: id })}
              />
              {label}
            </label>
          ))}
        </fieldset>
        <p className="text-sm">{note}</p>
        {hasKey && <ConnectKey agent={agent} value={key} onMade={setKey} />}
        {snippets({ url: location.origin, agent, key: key ?? placeholder }).map(({ where, text }) => (
          <Snippet key={where} where={where} text={text} />
        ))}
      </Section>
    </Tab>
  );
}

function Snippet({ where, text }: { where: string; text: string }) {
  return (
    <div className="min-w-0 rounded-lg border bg-surface">
      <div className="flex items-center justify-between gap-2 border-b py-1 pr-1 pl-3">
        <span className="text-sm text-muted">{where}</span>
        <CopyButton text={text} label={`Copy: ${where}`} isSmall />
      </div>
      <section className="overflow-x-auto p-3" tabIndex={0} aria-label={where}>
        <pre className="font-mono text-[13px] leading-relaxed">{text}</pre>
      </section>
    </div>
  );
}

const expiresInMs = 90 * 86_400_000;

interface ConnectKeyProps {
  agent: string;
  value: string | null;
  onMade: (key: string) => void;
}

/** Creates a key that can only talk to the agent, and puts it into the snippets of this page. */
function ConnectKey({ agent, value, onMade }: ConnectKeyProps) {
  const queries = useQueryClient();
  const make = useAction(async () => {
    const { key } = await berth.keys.create({
      name: `Connect ${agent}`,
      kind: "agent",
      agents: [agent],
      expiresAt: new Date(Date.now() + expiresInMs).toISOString(),
    });
    onMade(key);
    await queries.invalidateQueries({ queryKey: keysQuery.queryKey });
  });
  if (value !== null) {
    return (
      <div className="grid gap-1.5">
        <p className="text-sm">
          The snippets contain your new key. It is shown until you leave this page, can only talk to {agent}, and
          expires in 90 days.
        </p>
        <Once text={value} label="Copy the key" />
      </div>
    );
  }
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
      <Button onClick={() => make.run()} isBusy={make.isBusy}>
        <KeyRound className="size-4" aria-hidden />
        Create a key
      </Button>
      <span className="text-sm text-muted">It can only talk to {agent}, and expires in 90 days.</span>
      <Failure of={make.error} />
    </div>
  );
}
