import type { Automation, AutomationWithSecret } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { automationsQuery } from "../api/queries.ts";
import { Badge } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { Empty } from "../ui/Notice.tsx";
import { Table } from "../ui/Table.tsx";
import { Time } from "../ui/Time.tsx";
import { View } from "../ui/View.tsx";
import { useMay } from "../workspace/use-may.ts";
import { AutomationForm } from "./AutomationForm.tsx";
import { HookSecret } from "./HookSection.tsx";
import { RunBadge } from "./RunBadge.tsx";
import { scheduleWords } from "./schedule.ts";

/** The messages that agents get on a schedule. */
export function Automations() {
  const query = useQuery(automationsQuery);
  const mayUse = useMay("use");
  return (
    <View title="Automations" actions={mayUse && <CreateAutomation />}>
      <Loaded query={query}>
        {(automations) =>
          automations.length === 0 ? (
            <Empty title="No automations yet">
              An automation sends a message to an agent on a schedule, or when another service calls it.
            </Empty>
          ) : (
            <Table
              label="Automations"
              onlyWide={["Agent", "When", "Last run"]}
              head={["Name", "Agent", "When", "Next run", "Last run"]}
            >
              {automations.map((automation) => (
                <Row key={automation.name} of={automation} />
              ))}
            </Table>
          )
        }
      </Loaded>
    </View>
  );
}

function Row({ of: automation }: { of: Automation }) {
  const { name, agent, from, trigger, paused, pausedReason, nextRunAt, lastRun, byAgent } = automation;
  return (
    <tr>
      <td className="wrap-anywhere">
        <Link to="/automations/$name" params={{ name }} className="font-medium hover:underline">
          {name}
        </Link>
        {byAgent && <span className="block text-muted">made by the agent</span>}
      </td>
      <td className="text-muted">{from ? `copies of ${from.agent}` : (agent ?? "deleted")}</td>
      <td className="text-muted">{scheduleWords(trigger)}</td>
      <td className="whitespace-nowrap text-muted">
        {paused ? (
          <Badge tone={pausedReason ? "bad" : "neutral"}>paused</Badge>
        ) : nextRunAt === null ? (
          trigger.type === "schedule" && "none"
        ) : (
          <Time at={nextRunAt} />
        )}
      </td>
      <td className="whitespace-nowrap text-muted">
        {lastRun && (
          <>
            <RunBadge status={lastRun.status} /> <Time at={lastRun.dueAt} />
          </>
        )}
      </td>
    </tr>
  );
}

function CreateAutomation() {
  const [isOpen, setOpen] = useState(false);
  /** With a hook, whose secret is shown once. */
  const [made, setMade] = useState<AutomationWithSecret | null>(null);
  const navigate = useNavigate();
  const show = (name: string) => {
    setOpen(false);
    void navigate({ to: "/automations/$name", params: { name } });
  };
  return (
    <>
      <Button kind="primary" onClick={() => setOpen(true)}>
        Create an automation
      </Button>
      <Dialog
        isOpen={isOpen}
        onClose={() => (made ? show(made.name) : setOpen(false))}
        title={made ? "Copy the secret now" : "Create an automation"}
        isKept={made !== null}
        isWide
      >
        {made ? (
          <HookSecret of={made} onDone={() => show(made.name)} />
        ) : (
          <AutomationForm
            of={null}
            onDone={(automation) =>
              "secret" in automation && automation.secret !== null ? setMade(automation) : show(automation.name)
            }
            onCancel={() => setOpen(false)}
          />
        )}
      </Dialog>
    </>
  );
}
