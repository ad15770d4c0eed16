import type { ColumnType, Generated, JSONColumnType } from "kysely";
import type { KeptItem } from "./conversation-items.ts";
import type { ResponseRequest } from "./stored-responses.ts";

/** The tables of OpenAI's APIs, after all migrations. */
export interface OpenAiTables {
  responses: {
    id: string;
    turn_id: string;
    agent_id: string;
    after_seq: number;
    previous_id: string | null;
    request: JSONColumnType<ResponseRequest>;
    input: JSONColumnType<unknown[]>;
    created_at: Generated<Date>;
  };
  openai_conversations: {
    id: string;
    account_id: string;
    key_id: string | null;
    person_id: string | null;
    metadata: JSONColumnType<Record<string, string>>;
    items: JSONColumnType<KeptItem[]>;
    agent_id: string | null;
    conversation: number | null;
    created_at: Generated<Date>;
    used_at: Generated<Date>;
  };
  client_chats: {
    agent_id: string;
    conversation: number;
    key_id: string | null;
    person_id: string | null;
    chat: string | null;
    depth: number;
    digest: Buffer;
    used_at: Generated<Date>;
  };
  openai_files: {
    id: string;
    account_id: string;
    key_id: string | null;
    person_id: string | null;
    is_of_agent_key: boolean;
    name: string;
    media_type: string;
    purpose: string;
    /** A bigint, which the driver returns as text. */
    size: ColumnType<string, number, number>;
    created_at: Generated<Date>;
    expires_at: Date;
  };
  openai_file_chunks: { file_id: string; number: number; bytes: Buffer };
}
