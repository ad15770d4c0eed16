import type { AccountCredits } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { bytes } from "../agent/bytes.ts";
import { berth } from "../api/client.ts";
import {
  allCreditsQuery,
  billingQuery,
  capacityQuery,
  reachabilityQuery,
  readinessQuery,
  runtimesQuery,
} from "../api/queries.ts";
import { Badge } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { credits } from "../ui/credits.ts";
import { Dialog } from "../ui/Dialog.tsx";
import { DialogEnd } from "../ui/DialogEnd.tsx";
import { Field, Input } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { Table } from "../ui/Table.tsx";
import { useAction } from "../ui/use-action.ts";
import { Section, View } from "../ui/View.tsx";
import { Quarantine } from "./Quarantine.tsx";
import { Users } from "./Users.tsx";

/** The operator's pages. */
export function Operator() {
  return (
    <View title="Operator">
      <Readiness />
      <Reachability />
      <Host />
      <Users />
      <Accounts />
      <Quarantine />
      <Versions />
    </View>
  );
}

function Readiness() {
  const query = useQuery({ ...readinessQuery, refetchInterval: 15_000 });
  return (
    <Section title="Health">
      <Loaded query={query}>
        {({ checks }) => (
          <ul className="grid gap-2 sm:grid-cols-3">
            {Object.entries(checks).map(([name, { ok, message }]) => (
              <li key={name} className="grid content-start gap-1 rounded-xl border bg-surface p-4 text-sm">
                <div className="flex items-center justify-between gap-2">
                  <span className="font-medium capitalize">{name}</span>
                  <Badge tone={ok ? "good" : "bad"}>{ok ? "OK" : "Failing"}</Badge>
                </div>
                <p className="wrap-anywhere text-muted">{message}</p>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Section>
  );
}

function Reachability() {
  const query = useQuery(reachabilityQuery);
  return (
    <Section title="Reachability">
      <Loaded query={query}>
        {({ phone, passkeys, certificate }) => (
          <ul className="grid gap-2 sm:grid-cols-2">
            {[phone, passkeys, ...(certificate ? [certificate] : [])].map(({ ok, message }) => (
              <li key={message} className="flex items-start gap-2 rounded-xl border bg-surface p-4 text-sm">
                <Badge tone={ok ? "good" : "warn"}>{ok ? "yes" : "no"}</Badge>
                <p className="wrap-anywhere text-muted">{message}</p>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Section>
  );
}

/** The account's events tell of its own machines only. */
const capacityEveryMs = 5_000;

function Host() {
  const query = useQuery({ ...capacityQuery, refetchInterval: capacityEveryMs });
  return (
    <Section title="Capacity">
      <Loaded query={query}>
        {({ machines, memoryMiB, spares, queue }) => (
          <div className="grid gap-2 sm:grid-cols-2 lg:grid-cols-4">
            <Gauge label="Machines awake" {...machines} />
            <Gauge label="Memory in use" {...memoryMiB} word={(mib) => bytes(mib * 1024 ** 2)} />
            <Gauge label="Warm spares" {...spares} />
            <Gauge label="Agents queued" {...queue} />
          </div>
        )}
      </Loaded>
    </Section>
  );
}

interface GaugeProps {
  label: string;
  used: number;
  limit: number;
  word?: (value: number) => string;
  reason?: string | null;
}

function Gauge({ label, used, limit, word = String, reason }: GaugeProps) {
  const text = `${word(used)} of ${word(limit)}`;
  return (
    <div className="grid content-start gap-2 rounded-xl border bg-surface p-4 text-sm">
      <p className="text-muted">{label}</p>
      <p className="text-lg font-semibold tabular-nums">{text}</p>
      <meter className="sr-only" aria-label={label} value={used} max={Math.max(limit, used, 1)}>
        {text}
      </meter>
      <div className="h-2 rounded-full bg-sunken" aria-hidden>
        <div
          className="h-full max-w-full rounded-full bg-accent-fill"
          style={{ width: `${(100 * used) / Math.max(limit, 1)}%` }}
        />
      </div>
      {reason && <p className="text-muted">{reason}</p>}
    </div>
  );
}

function Accounts() {
  const query = useQuery(allCreditsQuery);
  return (
    <Section title="Account balances">
      <Loaded query={query}>
        {(accounts) => (
          <Table
            label="Account balances"
            onlyWide={["Held", "Spent this month", "Limit"]}
            head={["Account", "Balance", "Held", "Spent this month", "Limit", ""]}
          >
            {accounts.map((account) => (
              <tr key={account.accountId}>
                <td className="font-medium">{account.name}</td>
                <td className="tabular-nums">{credits(account.balance)}</td>
                <td className="text-muted tabular-nums">{credits(account.held)}</td>
                <td className="text-muted tabular-nums">{credits(account.spentThisMonth)}</td>
                <td className="text-muted tabular-nums">
                  {account.monthlyLimit === null ? "none" : credits(account.monthlyLimit)}
                </td>
                <td className="text-right">
                  <Grant account={account} />
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Loaded>
    </Section>
  );
}

function Grant({ account: { accountId, name } }: { account: AccountCredits }) {
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const [amount, setAmount] = useState("");
  const [note, setNote] = useState("");
  const give = useAction(async () => {
    await berth.admin.grantCredits({
      account: accountId,
      credits: amount.trim(),
      ...(note.trim() === "" ? {} : { note: note.trim() }),
    });
    await queries.invalidateQueries({ queryKey: allCreditsQuery.queryKey });
    await queries.invalidateQueries({ queryKey: billingQuery.queryKey });
    setOpen(false);
  });
  return (
    <>
      <Button kind="quiet" onClick={() => setOpen(true)}>
        Adjust credits
      </Button>
      <Dialog isOpen={isOpen} onClose={() => setOpen(false)} title={`Adjust credits of ${name}`}>
        <Form of={give} onSubmit={() => give.run()}>
          <Field label="Credits" name="credits" hint="Added to the balance. A negative number takes credits away.">
            {(props) => (
              <Input
                {...props}
                required
                value={amount}
                inputMode="decimal"
                onChange={(event) => setAmount(event.target.value)}
              />
            )}
          </Field>
          <Field label="Note" name="note" hint="The reason, shown in the account's ledger.">
            {(props) => <Input {...props} value={note} onChange={(event) => setNote(event.target.value)} />}
          </Field>
          <DialogEnd of={give} action="Adjust" onCancel={() => setOpen(false)} />
        </Form>
      </Dialog>
    </>
  );
}

function Versions() {
  const query = useQuery(runtimesQuery);
  return (
    <Section title="Versions">
      <Loaded query={query}>
        {(runtimes) => (
          <Table label="Versions" head={["Runtime", "Package", "Version"]}>
            {runtimes.map(({ name, package: npm, version }) => (
              <tr key={name}>
                <td className="font-medium">{name}</td>
                <td className="font-mono text-[13px] text-muted">{npm}</td>
                <td className="tabular-nums">{version ?? "unknown"}</td>
              </tr>
            ))}
          </Table>
        )}
      </Loaded>
    </Section>
  );
}
