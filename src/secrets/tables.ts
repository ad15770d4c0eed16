import type { Generated, JSONColumnType } from "kysely";

/** The tables of workspaces' secrets, after all migrations. */
export interface SecretTables {
  workspace_secrets: {
    account_id: string;
    name: string;
    value: Buffer;
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
  /** `version`: a bigint, which comes as text. */
  workspace_secret_versions: { account_id: string; version: Generated<string> };
}
