import type { Generated, JSONColumnType } from "kysely";
import type { DeliveryStatus, DisabledReason } from "../contract/webhooks.ts";

/** The tables of webhooks, after all migrations. */
export interface WebhookTables {
  webhooks: {
    id: string;
    account_id: string;
    url: string;
    events: JSONColumnType<string[]> | null;
    agent_name: string | null;
    include: JSONColumnType<"content"[]>;
    secret: Buffer;
    old_secret: Buffer | null;
    old_secret_until: Date | null;
    disabled: Generated<boolean>;
    disabled_reason: JSONColumnType<DisabledReason> | null;
    /** A bigint, which comes as text. */
    dropped: Generated<string>;
    delivered_at: Date | null;
    /** Null: a webhook of the workspace. */
    turn_id: string | null;
    push_id: string | null;
    key_id: string | null;
    person_id: string | null;
    created_at: Generated<Date>;
  };
  webhook_deliveries: {
    id: Generated<string>;
    number: Generated<string>;
    webhook_id: string;
    type: string;
    lane: string;
    data: JSONColumnType<Record<string, unknown>>;
    created_at: Generated<Date>;
    status: Generated<DeliveryStatus>;
    attempts: Generated<number>;
    next_try_at: Generated<Date>;
    attempted_at: Date | null;
    answer_status: number | null;
    error: string | null;
    finished_at: Date | null;
  };
}
