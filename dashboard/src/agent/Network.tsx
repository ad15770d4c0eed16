import type { Network as Policy } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { berth } from "../api/client.ts";
import { connectionsQuery, networkQuery } from "../api/queries.ts";
import { Badge } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { Failure } from "../ui/Failure.tsx";
import { Field, Select, TextArea } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { Empty } from "../ui/Notice.tsx";
import { Submit } from "../ui/Submit.tsx";
import { Table } from "../ui/Table.tsx";
import { Time } from "../ui/Time.tsx";
import { useAction } from "../ui/use-action.ts";
import { Section } from "../ui/View.tsx";
import { useAgentName } from "./agent-name.ts";
import { bytes } from "./bytes.ts";
import { refusalWords } from "./refusal-words.ts";
import { Tab } from "./Tab.tsx";

/** Where the agent's programs may connect to, and where they did. */
export function Network() {
  const name = useAgentName();
  const query = useQuery(networkQuery(name));
  return (
    <Tab>
      <Section title="Rules">
        <Loaded query={query}>
          {(policy) => (
            <PolicyForm key={[...policy.allow, "", ...policy.deny].join("\n")} name={name} policy={policy} />
          )}
        </Loaded>
      </Section>
      <Connections name={name} />
    </Tab>
  );
}

/** The account's events tell of refused connections only. */
const logEveryMs = 3_000;

const anything = "*";
type Mode = "anything" | "listed" | "nothing";

function modeOf({ allow }: Policy): Mode {
  if (allow.includes(anything)) return "anything";
  return allow.length === 0 ? "nothing" : "listed";
}

function PolicyForm({ name, policy }: { name: string; policy: Policy }) {
  const queries = useQueryClient();
  const [mode, setMode] = useState(modeOf(policy));
  const [allow, setAllow] = useState(policy.allow.filter((rule) => rule !== anything).join("\n"));
  const [deny, setDeny] = useState(policy.deny.join("\n"));
  const save = useAction(async () => {
    const allowed = { anything: [anything, ...rulesIn(allow)], listed: rulesIn(allow), nothing: [] }[mode];
    const next = await berth.agent(name).network.set({ allow: allowed, deny: rulesIn(deny) });
    queries.setQueryData(networkQuery(name).queryKey, next);
  });
  const { operator } = policy;
  return (
    <Form onSubmit={() => save.run()}>
      <Field label="This agent may connect to" className="max-w-sm">
        {(props) => (
          <Select {...props} value={mode} onChange={(event) => setMode(event.target.value as Mode)}>
            <option value="anything">Any public host</option>
            <option value="listed">Only the hosts below</option>
            <option value="nothing">Nothing</option>
          </Select>
        )}
      </Field>
      <div className="grid gap-4 md:grid-cols-2">
        {mode === "listed" && (
          <Field label="Allowed hosts" hint="One rule per line: example.com, *.example.com:443, 203.0.113.0/24">
            {(props) => (
              <TextArea
                {...props}
                rows={5}
                value={allow}
                onChange={(event) => setAllow(event.target.value)}
                className="font-mono text-[13px]"
              />
            )}
          </Field>
        )}
        <Field label="Refused hosts" hint="Takes precedence over allowed hosts. One rule per line.">
          {(props) => (
            <TextArea
              {...props}
              rows={5}
              value={deny}
              onChange={(event) => setDeny(event.target.value)}
              className="font-mono text-[13px]"
            />
          )}
        </Field>
      </div>
      <p className="text-sm text-muted">
        The operator allows {operator.allow.length === 0 ? "nothing" : operator.allow.map(wordOf).join(", ")}
        {operator.deny.length > 0 && ` and refuses ${operator.deny.join(", ")}`}. Private addresses are always refused.
      </p>
      <Submit of={save} kind="primary">
        Save the rules
      </Submit>
    </Form>
  );
}

function wordOf(rule: string): string {
  return rule === anything ? "any public host" : rule;
}

function rulesIn(text: string): string[] {
  return text
    .split(/[\n,]/)
    .map((rule) => rule.trim())
    .filter((rule) => rule !== "");
}

type Verdict = "allowed" | "refused";

function Connections({ name }: { name: string }) {
  const queries = useQueryClient();
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const query = useQuery({ ...connectionsQuery(name, verdict), refetchInterval: logEveryMs });
  const policy = useQuery(networkQuery(name));
  const allow = useAction(async (host: string, port: number | null) => {
    const rule = port === null ? host : `${host}:${port}`;
    const { allow: allowed, deny } = policy.data!;
    const next = await berth.agent(name).network.set({
      allow: allowed.includes(rule) ? allowed : [...allowed, rule],
      deny: deny.filter((each) => each !== host && each !== rule),
    });
    queries.setQueryData(networkQuery(name).queryKey, next);
  });
  return (
    <Section
      title="Connections"
      actions={
        <Select
          aria-label="Verdict"
          className="!w-auto"
          value={verdict ?? ""}
          onChange={({ target }) => setVerdict(target.value === "" ? null : (target.value as Verdict))}
        >
          <option value="">All</option>
          <option value="allowed">Allowed</option>
          <option value="refused">Refused</option>
        </Select>
      }
    >
      <Failure of={allow.error} />
      <Loaded query={query}>
        {(entries) =>
          entries.length === 0 ? (
            <Empty title="No connections">They show up here as the agent makes them.</Empty>
          ) : (
            <Table
              label="Connections"
              onlyWide={["When", "Sent", "Received"]}
              head={["Host", "Verdict", "When", "Sent", "Received", ""]}
            >
              {entries.map((entry) => (
                <tr key={entry.id}>
                  <td className="min-w-40 wrap-anywhere">
                    {entry.host}
                    {entry.port !== null && <span className="text-muted">:{entry.port}</span>}
                    {entry.count > 1 && <span className="text-muted"> ({entry.count} times)</span>}
                  </td>
                  <td className="whitespace-nowrap">
                    <Badge tone={entry.verdict === "allowed" ? "good" : "bad"}>{entry.verdict}</Badge>
                    {entry.reason && <p className="mt-0.5 text-[13px] text-muted">{refusalWords[entry.reason]}</p>}
                  </td>
                  <td className="whitespace-nowrap text-muted">
                    <Time at={entry.startedAt} />
                  </td>
                  <td className="whitespace-nowrap text-muted tabular-nums">{bytes(entry.bytesSent)}</td>
                  <td className="whitespace-nowrap text-muted tabular-nums">{bytes(entry.bytesReceived)}</td>
                  <td className="text-right">
                    {(entry.reason === "not_allowed" || entry.reason === "denied") && policy.data && (
                      <Button isBusy={allow.isBusy} onClick={() => allow.run(entry.host, entry.port)}>
                        Allow this host
                      </Button>
                    )}
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Loaded>
    </Section>
  );
}
