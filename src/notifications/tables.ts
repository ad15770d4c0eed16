import type { ColumnType, Generated, JSONColumnType } from "kysely";
import type { ChannelFailures, ChannelName, Notify } from "../contract/notifications.ts";
import type { EventFacts, NotifiedEvent } from "./events.ts";

/** The tables of notifications, after all migrations. */
export interface NotificationTables {
  push_subscriptions: {
    id: string;
    person_id: string;
    endpoint: string;
    p256dh: string;
    auth: string;
    server_key: string;
    name: string | null;
    created_at: Generated<Date>;
    sent_at: Date | null;
    error: string | null;
  };
  /** How people are notified. */
  profiles: {
    person_id: string;
    email: string | null;
    pending_email: string | null;
    pending_token_hash: Buffer | null;
    pending_until: Date | null;
    email_notifications: Generated<boolean>;
    time_zone: string | null;
    quiet_from: string | null;
    quiet_to: string | null;
    notify: Generated<Notify>;
    ntfy_url: string | null;
    ntfy_token: Buffer | null;
    failures: ColumnType<ChannelFailures, string | undefined, string>;
  };
  agent_notify: { person_id: string; account_id: string; agent_id: string; notify: Notify };
  notifications: {
    id: Generated<string>;
    number: Generated<string>;
    person_id: string;
    account_id: string;
    agent_id: string | null;
    event: JSONColumnType<EventFacts>;
    created_at: Generated<Date>;
    due_at: Generated<Date>;
    held: Generated<boolean>;
  };
  notification_sends: {
    id: Generated<string>;
    number: Generated<string>;
    person_id: string;
    channel: ChannelName;
    events: JSONColumnType<NotifiedEvent[]>;
    created_at: Generated<Date>;
    attempts: Generated<number>;
    next_try_at: Generated<Date>;
  };
}
