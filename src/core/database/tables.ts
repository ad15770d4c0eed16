import type { Generated, JSONColumnType } from "kysely";
import type { AccountTables } from "../../accounts/tables.ts";
import type { AcmeTables } from "../../acme/tables.ts";
import type { AgentTables } from "../../agents/tables.ts";
import type { AutomationTables } from "../../automations/tables.ts";
import type { BillingTables } from "../../billing/tables.ts";
import type { Credential } from "../../contract/keys.ts";
import type { EgressTables } from "../../egress/tables.ts";
import type { HostTables } from "../../hosts/tables.ts";
import type { InboxTables } from "../../inbox/tables.ts";
import type { NotificationTables } from "../../notifications/tables.ts";
import type { OpenAiTables } from "../../protocols/openai/tables.ts";
import type { ProviderTables } from "../../providers/tables.ts";
import type { SecretTables } from "../../secrets/tables.ts";
import type { SignInTables } from "../../sign-in/tables.ts";
import type { SkillTables } from "../../skills/tables.ts";
import type { TurnTables } from "../../turns/tables.ts";
import type { WebhookTables } from "../../webhooks/tables.ts";

/** The tables after all migrations: those of each noun, and those of every request. */
export interface Tables
  extends AccountTables,
    SignInTables,
    NotificationTables,
    InboxTables,
    AgentTables,
    TurnTables,
    OpenAiTables,
    AutomationTables,
    WebhookTables,
    ProviderTables,
    BillingTables,
    EgressTables,
    SecretTables,
    SkillTables,
    AcmeTables,
    HostTables {
  rate_limits: { key: string; points: number; expire: string | null };
  idempotency_keys: {
    owner: string;
    account_id: string;
    key_id: string | null;
    /** Null for a key. */
    person_id: string | null;
    key: string;
    fingerprint: Buffer;
    resource_id: string;
    leased_until: Date;
    status: number | null;
    headers: JSONColumnType<Record<string, string>> | null;
    body: Buffer | null;
    created_at: Generated<Date>;
  };
  audit_entries: {
    id: string;
    account_id: string;
    at: Date;
    credential: Credential | null;
    key_id: string | null;
    person_id: string | null;
    address: string;
    operation: string;
    agent_id: string | null;
    agent_name: string | null;
    resource: string | null;
    status: number;
    code: string | null;
    request_id: string;
  };
}
