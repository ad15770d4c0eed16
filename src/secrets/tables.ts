import type { Generated, JSONColumnType } from "kysely";

/** The tables of workspaces' secrets, after all migrations. */
export interface SecretTables {
  workspace_secrets: {
    account_id: string;
    name: string;
    /** Null: the token of its login. */
    value: Buffer | null;
    hosts: JSONColumnType<string[]>;
    headers: JSONColumnType<string[]>;
    all_agents: boolean;
    seed: Buffer;
    person_id: string | null;
    key_id: string | null;
    created_at: Generated<Date>;
    updated_at: Generated<Date>;
  };
  workspace_secret_agents: { account_id: string; name: string; agent_id: string };
  secret_logins: {
    id: Generated<string>;
    account_id: string;
    name: string;
    url: string;
    client: Buffer | null;
    attempt: Buffer | null;
    attempt_id: string | null;
    state_hash: Buffer | null;
    attempt_ends_at: Date | null;
    begun_by_person: string | null;
    begun_by_key: string | null;
    code_hash: Buffer | null;
    wrong_codes: Generated<number>;
    tokens: Buffer | null;
    version: Generated<string>;
    scopes: JSONColumnType<string[]>;
    connected_at: Date | null;
    expires_at: Date | null;
    refreshing_until: Date | null;
    reason: string | null;
  };
  /** `version`: a bigint, which comes as text. */
  workspace_secret_versions: { account_id: string; version: Generated<string> };
}
