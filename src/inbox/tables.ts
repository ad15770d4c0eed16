import type { Generated, JSONColumnType } from "kysely";
import type { InboxKind } from "../contract/inbox.ts";

/** The tables of people's inboxes, after all migrations. */
export interface InboxTables {
  inbox_items: {
    id: Generated<string>;
    number: string;
    person_id: string;
    account_id: string;
    agent_id: string | null;
    kind: InboxKind;
    subject: string;
    event: JSONColumnType<Record<string, unknown>>;
    count: Generated<string>;
    at: Date;
    read_at: Date | null;
  };
  seen_turns: { turn_id: string; person_id: string; at: Generated<Date> };
  notified_events: { last: string };
}
