import type { Automation } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { berth } from "../api/client.ts";
import { automationQuery, automationsKey, runsQuery } from "../api/queries.ts";
import { useIsMissing } from "../api/use-missing.ts";
import { Actions } from "../ui/Actions.tsx";
import { Button } from "../ui/Button.tsx";
import { Confirm } from "../ui/Confirm.tsx";
import { credits } from "../ui/credits.ts";
import { Dialog } from "../ui/Dialog.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { Notice } from "../ui/Notice.tsx";
import { useAction } from "../ui/use-action.ts";
import { EmptyView, Section, View } from "../ui/View.tsx";
import { useMay } from "../workspace/use-may.ts";
import { AutomationForm } from "./AutomationForm.tsx";
import { Deliveries } from "./Deliveries.tsx";
import { HookSection } from "./HookSection.tsx";
import { NextTimes } from "./NextTimes.tsx";
import { Runs } from "./Runs.tsx";
import { scheduleWords } from "./schedule.ts";

/** An automation: its schedule, settings and runs. */
export function AutomationPage() {
  const { name } = useParams({ from: "/shell/automations/$name" });
  const query = useQuery(automationQuery(name));
  const isGone = useIsMissing(query, name);
  const mayUse = useMay("use");
  if (isGone) {
    return (
      <EmptyView title={`There is no automation ${name}`} to="/automations" label="All automations">
        It was deleted, or it is in another workspace.
      </EmptyView>
    );
  }
  return (
    <View title={name} actions={query.data && mayUse && <AutomationActions of={query.data} />}>
      <Loaded query={query}>
        {(automation) => (
          <>
            {automation.pausedReason && (
              <Notice tone="bad" title="It has paused">
                {automation.pausedReason.message}
              </Notice>
            )}
            <Schedule of={automation} />
            <Settings of={automation} />
            <Section title="Runs">
              <Runs name={name} />
            </Section>
            {automation.hook && (
              <Section title="Deliveries">
                <Deliveries name={name} />
              </Section>
            )}
          </>
        )}
      </Loaded>
    </View>
  );
}

function Schedule({ of: automation }: { of: Automation }) {
  const { trigger, paused, nextRunAt } = automation;
  if (trigger.type === "hook") return <HookSection of={automation} trigger={trigger} />;
  const { cron, timeZone } = trigger;
  return (
    <Section title="Schedule">
      <p className="text-sm wrap-anywhere">{scheduleWords(trigger)}</p>
      {paused && <p className="text-sm text-muted">It is paused.</p>}
      {!paused && nextRunAt === null && <p className="text-sm text-muted">Its time has passed.</p>}
      {!paused && cron !== undefined && <NextTimes cron={cron} timeZone={timeZone!} />}
    </Section>
  );
}

const overlaps = {
  skip: "is left out if the run before has not ended",
  queue: "waits if the run before has not ended",
  "cancel-previous": "cancels the run before if that has not ended",
};

function Settings({ of: automation }: { of: Automation }) {
  const { agent, from, message, conversation, overlap, missed, maxCredits, timeout, keep, createdBy } = automation;
  return (
    <Section title="Message">
      <p className="max-h-60 overflow-y-auto rounded-xl border bg-surface px-4 py-3 text-sm whitespace-pre-wrap wrap-anywhere">
        {message}
      </p>
      <ul className="grid gap-1 text-sm text-muted">
        <li>
          {from ? (
            <>
              Each run has a copy of <AgentLink name={from.agent} />
              {from.snapshot && ` at its snapshot ${from.snapshot}`}, {from.secrets ? "with" : "without"} its secrets,{" "}
              {keep === 0 ? "deleted afterwards" : `kept for ${keep} hours`}.
            </>
          ) : agent ? (
            <>
              To <AgentLink name={agent} />.
            </>
          ) : (
            "Its agent was deleted."
          )}{" "}
          {conversation === "new" ? "Each run has a conversation of its own." : "All runs share a conversation."}
        </li>
        <li>
          A run {overlaps[overlap]}.{" "}
          {automation.hook === null &&
            (missed === "once" ? "A missed one is made up for once." : "Missed ones are left out.")}
        </li>
        <li>
          {maxCredits === null ? "No limit of credits" : `At most ${credits(maxCredits)} credits`} for a run, which is
          cancelled after {timeout} minutes.
        </li>
        {automation.byAgent && <li>The agent made it{createdBy && `, for a message of ${createdBy.name}`}.</li>}
        {!automation.byAgent && createdBy && <li>Created by {createdBy.name}.</li>}
      </ul>
    </Section>
  );
}

function AgentLink({ name }: { name: string }) {
  return (
    <Link to="/agents/$name" params={{ name }} className="font-medium text-ink hover:underline">
      {name}
    </Link>
  );
}

function AutomationActions({ of: automation }: { of: Automation }) {
  const { name, paused } = automation;
  const queries = useQueryClient();
  const refresh = () => queries.invalidateQueries({ queryKey: automationsKey });
  const run = useAction(async () => {
    await berth.automations.run(name);
    await Promise.all([refresh(), queries.invalidateQueries({ queryKey: runsQuery(name).queryKey })]);
  });
  const pause = useAction(async () => {
    await (paused ? berth.automations.resume(name) : berth.automations.pause(name));
    await refresh();
  });
  return (
    <Actions errors={[run.error, pause.error]}>
      <Button isBusy={run.isBusy} onClick={() => run.run()}>
        Run now
      </Button>
      <Button isBusy={pause.isBusy} onClick={() => pause.run()}>
        {paused ? "Resume" : "Pause"}
      </Button>
      <Edit of={automation} />
      <Delete name={name} onDeleted={refresh} />
    </Actions>
  );
}

function Edit({ of: automation }: { of: Automation }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>Edit</Button>
      <Dialog isOpen={isOpen} onClose={() => setOpen(false)} title={`Edit ${automation.name}`} isWide>
        <AutomationForm of={automation} onDone={() => setOpen(false)} onCancel={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function Delete({ name, onDeleted }: { name: string; onDeleted: () => Promise<unknown> }) {
  const navigate = useNavigate();
  return (
    <Confirm
      trigger={(open) => (
        <Button kind="quiet" onClick={open}>
          Delete
        </Button>
      )}
      title={`Delete ${name}?`}
      action="Delete"
      onConfirm={async () => {
        await berth.automations.delete(name);
        await navigate({ to: "/automations" });
        await onDeleted();
      }}
    >
      Its runs are deleted with it. A run that has not ended is cancelled.
    </Confirm>
  );
}
