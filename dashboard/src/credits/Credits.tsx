import type { Billing } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { berth } from "../api/client.ts";
import { billingQuery, type UsageGroup, usageQuery } from "../api/queries.ts";
import { Button } from "../ui/Button.tsx";
import { credits } from "../ui/credits.ts";
import { Dialog } from "../ui/Dialog.tsx";
import { DialogEnd } from "../ui/DialogEnd.tsx";
import { Field, Input, Select } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { nameIn, useFilters } from "../ui/filters.ts";
import { Loaded } from "../ui/Loaded.tsx";
import { messageOf } from "../ui/message.ts";
import { Empty, Notice } from "../ui/Notice.tsx";
import { useAction } from "../ui/use-action.ts";
import { Section, View } from "../ui/View.tsx";
import { useMay } from "../workspace/use-may.ts";
import { Bars } from "./Bars.tsx";
import { DayChart } from "./DayChart.tsx";
import { Ledger } from "./Ledger.tsx";

export function Credits() {
  const query = useQuery(billingQuery);
  const mayManage = useMay("manage");
  return (
    <View title="Credits" actions={query.data?.canTopUp && mayManage && <TopUp />}>
      <Loaded query={query}>{(billing) => <Balance billing={billing} />}</Loaded>
      <Spending />
      <Ledger />
    </View>
  );
}

function Balance({ billing }: { billing: Billing }) {
  const mayManage = useMay("manage");
  const { balance, held, spentThisMonth, monthlyLimit } = billing;
  return (
    <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
      <Figure label="Balance">{credits(balance)}</Figure>
      <Figure label="Held for running turns">{credits(held)}</Figure>
      <Figure label="Spent this month">{credits(spentThisMonth)}</Figure>
      <Figure label="Monthly limit" action={mayManage && <LimitEditor limit={monthlyLimit} />}>
        {monthlyLimit === null ? "none" : credits(monthlyLimit)}
      </Figure>
    </div>
  );
}

function Figure({ label, action, children }: { label: string; action?: ReactNode; children: ReactNode }) {
  return (
    <div className="grid content-start gap-1 rounded-xl border bg-surface p-4">
      <div className="flex items-center justify-between gap-2">
        <p className="text-sm text-muted">{label}</p>
        {action}
      </div>
      <p className="text-2xl font-semibold tabular-nums">{children}</p>
    </div>
  );
}

function LimitEditor({ limit }: { limit: string | null }) {
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const [text, setText] = useState(limit ?? "");
  const save = useAction(async () => {
    const next = await berth.billing.update({ monthlyLimit: text.trim() || null });
    queries.setQueryData(billingQuery.queryKey, next);
    setOpen(false);
  });
  return (
    <>
      <button type="button" className="rounded text-sm text-accent hover:underline" onClick={() => setOpen(true)}>
        Change
      </button>
      <Dialog
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title="Monthly limit"
        description="Agents pause until next month when it's reached."
      >
        <Form of={save} onSubmit={() => save.run()}>
          <Field label="Credits" hint="Empty: no limit." error={save.error === null ? null : messageOf(save.error)}>
            {(props) => (
              <Input {...props} value={text} inputMode="decimal" onChange={(event) => setText(event.target.value)} />
            )}
          </Field>
          <DialogEnd of={{ isBusy: save.isBusy }} action="Save" onCancel={() => setOpen(false)} />
        </Form>
      </Dialog>
    </>
  );
}

function TopUp() {
  const [isOpen, setOpen] = useState(false);
  const [text, setText] = useState("10");
  const pay = useAction(async () => {
    const { url } = await berth.billing.topUp({ credits: text.trim() });
    location.assign(url);
  });
  return (
    <>
      <Button onClick={() => setOpen(true)}>Top up</Button>
      <Dialog
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title="Top up"
        description="You pay by card on the next page."
      >
        <Form of={pay} onSubmit={() => pay.run()}>
          <Field label="Credits">
            {(props) => (
              <Input {...props} value={text} inputMode="decimal" onChange={(event) => setText(event.target.value)} />
            )}
          </Field>
          {pay.error !== null && <Notice tone="warn">{messageOf(pay.error)}</Notice>}
          <DialogEnd of={{ isBusy: pay.isBusy }} action="Continue to payment" onCancel={() => setOpen(false)} />
        </Form>
      </Dialog>
    </>
  );
}

const periods = { 7: "7 days", 30: "30 days", 90: "90 days" };

function Spending() {
  const [filters, change] = useFilters<"days">();
  const days = Number(nameIn(periods, filters.days) ?? 30);
  const [today] = useState(() => new Date().toISOString().slice(0, 10));
  const since = new Date(Date.parse(today) - (days - 1) * 86_400_000).toISOString();
  return (
    <Section
      title="Spending"
      actions={
        <Select
          aria-label="Period"
          className="!w-auto"
          value={days}
          onChange={({ target }) => change({ days: target.value })}
        >
          {Object.entries(periods).map(([value, label]) => (
            <option key={value} value={value}>
              The last {label}
            </option>
          ))}
        </Select>
      }
    >
      <Chart by="day" since={since} days={days} />
      <div className="grid gap-3 md:grid-cols-2">
        <Chart by="agent" since={since} days={days} />
        <Chart by="model" since={since} days={days} />
      </div>
    </Section>
  );
}

function Chart({ by, since, days }: { by: UsageGroup; since: string; days: number }) {
  const query = useQuery(usageQuery(by, since));
  return (
    <div className="grid min-w-0 content-start gap-3 rounded-xl border bg-surface p-4">
      <h3 className="text-sm text-muted">By {by}</h3>
      <Loaded query={query}>
        {({ data }) => {
          if (data.every((sum) => Number(sum.credits) === 0)) return <Empty title="Nothing was spent" />;
          return by === "day" ? <DayChart sums={data} since={since} days={days} /> : <Bars sums={data} />;
        }}
      </Loaded>
    </div>
  );
}
