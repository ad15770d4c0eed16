import type { ColumnType, Generated, JSONColumnType } from "kysely";
import type { UsageState } from "../billing/usage.ts";
import type { Decision } from "../contract/approval-fields.ts";
import type { OnAsk, TurnEvent, TurnStatus } from "../contract/chat.ts";
import type { Effort } from "../contract/effort.ts";
import type { ClientFunction } from "../contract/functions.ts";
import type { AskedLimits } from "../contract/limits.ts";
import type { OutputSchema } from "../contract/output.ts";
import type { Attachment } from "../contract/uploads.ts";

/** The tables of turns, after all migrations. */
export interface TurnTables {
  turns: {
    id: string;
    agent_id: string;
    key_id: string | null;
    person_id: string | null;
    conversation: number;
    names_conversation: Generated<boolean>;
    message: string;
    instructions: string | null;
    functions: JSONColumnType<ClientFunction[]> | null;
    model: string | null;
    /** The message's own. */
    effort: Effort | null;
    status: TurnStatus;
    usage: JSONColumnType<UsageState>;
    asked_by: string | null;
    undone: Generated<boolean>;
    first_turn: string | null;
    depth: number | null;
    created_at: Generated<Date>;
    finished_at: Date | null;
    on_ask: Generated<OnAsk>;
    limits: JSONColumnType<AskedLimits> | null;
    output_schema: JSONColumnType<OutputSchema> | null;
    waiting: Generated<boolean>;
    place: number | null;
    interrupts: Generated<boolean>;
    queued_at: Date | null;
    attachments: ColumnType<Attachment[], string | undefined, string>;
    /** Measured by the clean-up, some time after the end. */
    bytes: Generated<string | null>;
  };
  turn_diffs: { turn_id: string; diffs: JSONColumnType<(string | null)[]> };
  turn_events: { turn_id: string; seq: number; event: JSONColumnType<TurnEvent> };
  conversations: {
    agent_id: string;
    number: number;
    title: string | null;
    runtime: string | null;
    retold: string | null;
    forked_from: string | null;
    beginning: string | null;
    key_id: string | null;
    person_id: string | null;
    request_id: string | null;
    created_at: Generated<Date>;
    last_turn_at: Date | null;
  };
  retold_conversations: { id: string; text: string; created_at: Generated<Date> };
  approvals: {
    turn_id: string;
    id: string;
    seq: number;
    requested_at: Generated<Date>;
    expires_at: Date;
    decision: Decision | null;
    message: string | null;
    decided_at: Date | null;
    key_id: string | null;
    person_id: string | null;
  };
  uploads: {
    id: string;
    agent_id: string;
    key_id: string | null;
    person_id: string | null;
    name: string;
    media_type: string;
    /** A bigint, which the driver returns as text. */
    size: ColumnType<string, number, number>;
    sha256: Buffer | null;
    used: Generated<boolean>;
    created_at: Generated<Date>;
    expires_at: Date;
  };
  upload_chunks: { upload_id: string; number: number; bytes: Buffer };
  search_texts: {
    turn_id: string;
    kind: "message" | "reply";
    agent_id: string;
    created_at: Date;
    text: string;
    /** A tsvector. */
    words: string;
  };
  search_queue: { turn_id: string; number: Generated<string> };
}
