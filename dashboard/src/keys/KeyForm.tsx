import type { Key, Role } from "@berth/client";
import { useQuery, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { AgentChoice } from "../agents/AgentChoice.tsx";
import { useIsClosed } from "../agents/Private.tsx";
import { berth } from "../api/client.ts";
import { agentsQuery, keysQuery, meQuery } from "../api/queries.ts";
import { RoleSelect } from "../members/RoleSelect.tsx";
import { DialogEnd } from "../ui/DialogEnd.tsx";
import { Field, Input, Select } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { useAction } from "../ui/use-action.ts";

const dayMs = 86_400_000;

/** Makes a key. `onMade` gets its secret. */
export function KeyForm({ onMade, onCancel }: { onMade: (key: string) => void; onCancel: () => void }) {
  const queries = useQueryClient();
  const { data: allAgents = [] } = useQuery(agentsQuery);
  const isClosed = useIsClosed();
  const [name, setName] = useState("");
  const [kind, setKind] = useState<Key["kind"]>("full");
  const { role: own } = useSuspenseQuery(meQuery).data.workspace;
  const [role, setRole] = useState<Role>(own);
  const [agents, setAgents] = useState<readonly string[]>([]);
  const [limit, setLimit] = useState("");
  const [days, setDays] = useState("90");
  const isForAgents = kind === "agent";
  const make = useAction(async () => {
    const { key } = await berth.keys.create({
      name: name.trim(),
      kind,
      // A key for everything has no limit: it could make another without one.
      ...(isForAgents ? { agents: [...agents], creditLimit: limit.trim() || null } : { role }),
      expiresAt: days === "" ? null : new Date(Date.now() + Number(days) * dayMs).toISOString(),
    });
    await queries.invalidateQueries({ queryKey: keysQuery.queryKey });
    onMade(key);
  });
  return (
    <Form of={make} onSubmit={() => make.run()}>
      <Field label="Name" name="name" hint="Its purpose.">
        {(props) => (
          <Input
            {...props}
            required
            maxLength={100}
            value={name}
            onChange={(event) => setName(event.target.value)}
            autoComplete="off"
          />
        )}
      </Field>
      <KindField value={kind} onChange={setKind} />
      {!isForAgents && (
        <Field label="Role" hint="It limits what the key may do in this workspace. No key has more rights than you.">
          {(props) => <RoleSelect {...props} upTo={own} value={role} onChoose={setRole} />}
        </Field>
      )}
      {isForAgents && (
        <AgentChoice
          legend="Agents"
          hint={agents.length === 0 ? "Choose at least one." : undefined}
          names={allAgents.filter((each) => !isClosed(each)).map((each) => each.name)}
          chosen={agents}
          onChange={setAgents}
        />
      )}
      <div className="grid gap-4 sm:grid-cols-2">
        {isForAgents && <LimitField value={limit} onChange={setLimit} />}
        <ExpiryField days={days} onChange={setDays} />
      </div>
      <DialogEnd of={make} action="Create key" onCancel={onCancel} disabled={isForAgents && agents.length === 0} />
    </Form>
  );
}

function KindField({ value, onChange }: { value: Key["kind"]; onChange: (kind: Key["kind"]) => void }) {
  return (
    <Field label="Kind">
      {(props) => (
        <Select {...props} value={value} onChange={({ target }) => onChange(target.value as Key["kind"])}>
          <option value="full">Everything that its role may</option>
          <option value="agent">Only chats with some agents</option>
        </Select>
      )}
    </Field>
  );
}

function LimitField({ value, onChange }: { value: string; onChange: (limit: string) => void }) {
  return (
    <Field label="Credit limit" name="creditLimit" hint="Its spending limit. Empty: no limit.">
      {(props) => (
        <Input {...props} value={value} inputMode="decimal" onChange={({ target }) => onChange(target.value)} />
      )}
    </Field>
  );
}

/** `days`: until the key expires; empty if it never does. */
function ExpiryField({ days, onChange }: { days: string; onChange: (days: string) => void }) {
  return (
    <Field label="Expires">
      {(props) => (
        <Select {...props} value={days} onChange={({ target }) => onChange(target.value)}>
          <option value="">Never</option>
          <option value="7">In a week</option>
          <option value="30">In 30 days</option>
          <option value="90">In 90 days</option>
          <option value="365">In a year</option>
        </Select>
      )}
    </Field>
  );
}
