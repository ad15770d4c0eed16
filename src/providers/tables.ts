import type { Generated, GeneratedAlways, JSONColumnType } from "kysely";
import type { LoginStatus, ProviderKind } from "../contract/providers.ts";

/** The tables of providers, after all migrations. */
export interface ProviderTables {
  providers: {
    id: string;
    /** Null: for all workspaces. */
    account_id: string | null;
    /** The person that it is for; null: for all of the workspace. */
    owner_id: string | null;
    name: string;
    kind: ProviderKind;
    base_url: string | null;
    region: string | null;
    project: string | null;
    models: JSONColumnType<string[]> | null;
    secret: string | null;
    credential: Buffer | null;
    hint: string | null;
    person_id: string | null;
    key_id: string | null;
    created_at: Generated<Date>;
    updated_at: Generated<Date>;
  };
  provider_logins: {
    provider_id: string;
    device: Buffer | null;
    device_id: string | null;
    poll_at: Date | null;
    expires_at: Date | null;
    tokens: Buffer | null;
    version: Generated<string>;
    account: string | null;
    refresh_at: Date | null;
    refreshing_until: Date | null;
    reason: string | null;
    status: GeneratedAlways<LoginStatus>;
  };
}
