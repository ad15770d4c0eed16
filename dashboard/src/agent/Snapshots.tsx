import type { Agent, Snapshot } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { berth } from "../api/client.ts";
import { activeConversationsQuery, agentQuery, snapshotsQuery, turnsKey } from "../api/queries.ts";
import { Badge } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { Confirm } from "../ui/Confirm.tsx";
import { classes } from "../ui/classes.ts";
import { Dialog } from "../ui/Dialog.tsx";
import { DialogEnd } from "../ui/DialogEnd.tsx";
import { Failure } from "../ui/Failure.tsx";
import { Field, Input, Select } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { Empty } from "../ui/Notice.tsx";
import { Table } from "../ui/Table.tsx";
import { Time } from "../ui/Time.tsx";
import { useAction } from "../ui/use-action.ts";
import { Section } from "../ui/View.tsx";
import { useMay } from "../workspace/use-may.ts";
import { useAgentName } from "./agent-name.ts";
import { bytes } from "./bytes.ts";
import { ForkDialog } from "./ForkDialog.tsx";
import { Tab } from "./Tab.tsx";

/** How many conversations a dialog names. */
const shownTitles = 5;

/** Moments of the agent that are kept, to go back to and to make other agents of. */
export function Snapshots() {
  const name = useAgentName();
  const queries = useQueryClient();
  const query = useQuery(snapshotsQuery(name));
  const agent = useQuery(agentQuery(name));
  const mayUse = useMay("use");
  const refresh = () => queries.invalidateQueries({ queryKey: snapshotsQuery(name).queryKey });
  return (
    <Tab>
      <Section title="Snapshots" actions={mayUse && <TakeSnapshot name={name} onDone={refresh} />}>
        <p className="text-sm text-muted">
          The agent's files, running programs and conversation at one time. The agent continues meanwhile.
        </p>
        {agent.data && mayUse && <BeforeTurns key={agent.data.autoSnapshot} agent={agent.data} />}
        <Loaded query={query}>
          {(snapshots) =>
            snapshots.length === 0 ? (
              <Empty title="No snapshots yet">{mayUse && "Take one before something that you may want to undo."}</Empty>
            ) : (
              <Table label="Snapshots" onlyWide={["Size", "Made"]} head={["Name", "Made", "Size", ""]}>
                {snapshots.toReversed().map((snapshot) => (
                  <Row key={snapshot.id} agent={name} snapshot={snapshot} onChanged={refresh} />
                ))}
              </Table>
            )
          }
        </Loaded>
      </Section>
    </Tab>
  );
}

/** The conversations that would forget turns. */
function Undone({ agent, since }: { agent: string; since: string }) {
  const { data = [] } = useQuery(activeConversationsQuery(agent, since));
  if (data.length === 0) return null;
  const titles = data.slice(0, shownTitles).map(({ id, title }) => `“${title ?? `Conversation ${id}`}”`);
  const more = data.length > shownTitles ? ` and ${data.length - shownTitles} more` : "";
  return (
    <>
      {agent} forgets later turns of {titles.join(", ")}
      {more}.
    </>
  );
}

/** Its name here: automatic snapshots show their time next to it. */
function labelOf({ name, reason }: Snapshot): string {
  if (reason === "turn") return "Before a turn";
  return reason === "asked" ? name : name.replace(/^b(.*), \S+$/, "B$1");
}

interface RowProps {
  agent: string;
  snapshot: Snapshot;
  onChanged: () => Promise<unknown>;
}

function Row({ agent, snapshot, onChanged }: RowProps) {
  const { reason, createdAt, hasMemory, bytes: size } = snapshot;
  const mayUse = useMay("use");
  return (
    <tr>
      <td className="max-w-60 wrap-anywhere sm:max-w-none">
        <span className={classes("mr-2", reason !== "asked" && "text-muted")}>{labelOf(snapshot)}</span>
        {!hasMemory && <Badge>files only</Badge>}
      </td>
      <td className="whitespace-nowrap text-muted">
        <Time at={createdAt} />
      </td>
      <td className="whitespace-nowrap text-muted tabular-nums">{bytes(size)}</td>
      <td className="text-right">{mayUse && <Actions agent={agent} snapshot={snapshot} onChanged={onChanged} />}</td>
    </tr>
  );
}

function Actions({ agent, snapshot, onChanged }: RowProps) {
  const { id } = snapshot;
  const label = labelOf(snapshot);
  const queries = useQueryClient();
  const [isForking, setForking] = useState(false);
  const { snapshots } = berth.agent(agent);
  const rollBack = async () => {
    const changed = await snapshots.rollBack(id);
    queries.setQueryData(agentQuery(agent).queryKey, changed);
    await Promise.all([onChanged(), queries.invalidateQueries({ queryKey: turnsKey(agent) })]);
  };
  return (
    <span className="inline-flex justify-end gap-1 max-sm:flex-wrap">
      <Confirm
        trigger={(open) => <Button onClick={open}>Roll back</Button>}
        title={`Roll back to “${label}”?`}
        action="Roll back"
        onConfirm={rollBack}
      >
        {agent} returns to its state at that time: files{snapshot.hasMemory && ", running programs"} and conversations.{" "}
        {!snapshot.hasMemory && "Programs that run now end. "}Its current state is saved as a snapshot first. Credits
        are not refunded. <Undone agent={agent} since={snapshot.createdAt} />
      </Confirm>
      <Button onClick={() => setForking(true)}>Fork</Button>
      {isForking && <ForkDialog source={agent} snapshot={{ id, label }} onClose={() => setForking(false)} />}
      <Confirm
        trigger={(open) => (
          <Button kind="quiet" onClick={open}>
            Remove
          </Button>
        )}
        title={`Remove “${label}”?`}
        action="Remove"
        onConfirm={async () => {
          await snapshots.remove(id);
          await onChanged();
        }}
      >
        You can no longer roll back to it. The agent and forks of the snapshot are kept.
      </Confirm>
    </span>
  );
}

function TakeSnapshot({ name, onDone }: { name: string; onDone: () => Promise<unknown> }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button kind="primary" onClick={() => setOpen(true)}>
        Take a snapshot
      </Button>
      <Dialog isOpen={isOpen} onClose={() => setOpen(false)} title="Take a snapshot">
        <SnapshotForm
          name={name}
          onDone={async () => {
            await onDone();
            setOpen(false);
          }}
          onCancel={() => setOpen(false)}
        />
      </Dialog>
    </>
  );
}

interface FormProps {
  name: string;
  onDone: () => Promise<unknown>;
  onCancel: () => void;
}

function SnapshotForm({ name, onDone, onCancel }: FormProps) {
  const [label, setLabel] = useState("");
  const [memory, setMemory] = useState(true);
  const take = useAction(async () => {
    const named = label.trim() === "" ? {} : { name: label.trim() };
    await berth.agent(name).snapshots.create({ ...named, memory });
    await onDone();
  });
  return (
    <Form of={take} onSubmit={() => take.run()}>
      <Field label="Name" name="name" hint="Default: the time.">
        {(props) => (
          <Input
            {...props}
            value={label}
            maxLength={100}
            autoComplete="off"
            onChange={(event) => setLabel(event.target.value)}
          />
        )}
      </Field>
      <label className="flex items-center gap-2 text-sm">
        <input type="checkbox" checked={memory} onChange={(event) => setMemory(event.target.checked)} />
        Include the running programs
      </label>
      <DialogEnd of={take} action="Take snapshot" onCancel={onCancel} />
    </Form>
  );
}

/** How many automatic snapshots are kept. A value set by another client remains a choice. */
function BeforeTurns({ agent: { name, autoSnapshot } }: { agent: Agent }) {
  const queries = useQueryClient();
  const save = useAction(async (count: number) => {
    const changed = await berth.agent(name).update({ autoSnapshot: count });
    queries.setQueryData(agentQuery(name).queryKey, changed);
  });
  const choices = [...new Set([0, 1, 3, 5, 10, 20, autoSnapshot])].sort((one, other) => one - other);
  return (
    <div className="grid gap-2">
      <Field
        label="Before each turn"
        hint="Files and conversations, saved when a message arrives. The oldest is removed."
      >
        {(props) => (
          <Select
            {...props}
            className="max-w-xs"
            value={autoSnapshot}
            disabled={save.isBusy}
            onChange={(event) => save.run(Number(event.target.value))}
          >
            {choices.map((count) => (
              <option key={count} value={count}>
                {count === 0 ? "Keep none" : `Keep the last ${count}`}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Failure of={save.error} />
    </div>
  );
}
