import type { Generated, JSONColumnType } from "kysely";

/** The tables of the sign-in, after all migrations. */
export interface SignInTables {
  users: {
    id: string;
    account_id: string;
    name: string;
    name_key: string;
    password_hash: string | null;
    disabled_at: Date | null;
    created_at: Generated<Date>;
  };
  user_links: { token_hash: Buffer; user_id: string | null; expires_at: Date; used_at: Date | null };
  oidc_records: {
    model: string;
    id_hash: Buffer;
    payload: JSONColumnType<object>;
    account_id: string | null;
    grant_id: string | null;
    uid: string | null;
    user_code_hash: Buffer | null;
    consumed_at: Date | null;
    expires_at: Date | null;
  };
  provider_keys: {
    id: string;
    purpose: "tokens" | "cookies" | "push";
    value: JSONColumnType<object>;
    created_at: Generated<Date>;
    retires_at: Generated<Date | null>;
  };
  dashboard_sessions: {
    id_hash: Buffer;
    account_id: string;
    tokens: Buffer;
    renewing_until: Date | null;
    created_at: Generated<Date>;
    expires_at: Date;
  };
}
