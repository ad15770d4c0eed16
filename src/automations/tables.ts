import type { Generated, JSONColumnType } from "kysely";
import type { FilterResult, Verdict } from "../contract/automation-hooks.ts";
import type { Automation, AutomationRun, RunReason, RunStatus, Trigger } from "../contract/automations.ts";
import type { AutomationSource } from "./automation.ts";

/** The tables of automations, after all migrations. */
export interface AutomationTables {
  automations: {
    id: string;
    account_id: string;
    name: string;
    agent_id: string | null;
    agent_name: string;
    source: JSONColumnType<AutomationSource> | null;
    keep_hours: number;
    message: string;
    trigger: JSONColumnType<Trigger>;
    conversation: Automation["conversation"];
    overlap: Automation["overlap"];
    missed: Automation["missed"];
    max_credits: string | null;
    timeout_minutes: number;
    paused: boolean;
    pause_reason: JSONColumnType<RunReason> | null;
    next_base_at: Date | null;
    next_run_at: Date | null;
    scheduled_at: Generated<Date>;
    failures: Generated<number>;
    conversation_number: number | null;
    by_agent: Generated<boolean>;
    key_id: string | null;
    person_id: string | null;
    created_at: Generated<Date>;
    deleted_at: Date | null;
  };
  automation_runs: {
    id: string;
    automation_id: string;
    agent_id: string;
    source: JSONColumnType<AutomationSource> | null;
    trigger: AutomationRun["trigger"];
    status: RunStatus;
    reason: JSONColumnType<RunReason> | null;
    message: string;
    reply: Generated<string>;
    reply_truncated: Generated<boolean>;
    /** A bigint, which comes as text. */
    credits: string | null;
    agent_name: string | null;
    conversation: number | null;
    replaced: Generated<boolean>;
    due_at: Date;
    created_at: Generated<Date>;
    started_at: Date | null;
    finished_at: Date | null;
    deadline_at: Date;
    agent_until: Date | null;
  };
  automation_hooks: {
    automation_id: string;
    secret: Buffer;
    hint: string;
    earlier_secret: Buffer | null;
    earlier_until: Date | null;
    rotated_by: string | null;
  };
  automation_deliveries: {
    id: string;
    automation_id: string;
    verified: boolean;
    verdict: Verdict;
    reason: string | null;
    filter: JSONColumnType<FilterResult> | null;
    delivery_id: string | null;
    event: string | null;
    headers: JSONColumnType<Record<string, string>>;
    body: Buffer | null;
    body_bytes: number;
    run_id: string | null;
    created_at: Generated<Date>;
  };
  automation_delivery_ids: {
    automation_id: string;
    delivery_id: string;
    run_id: string;
    created_at: Generated<Date>;
  };
}
