import type { Generated, JSONColumnType } from "kysely";
import type { ProviderKind } from "../contract/providers.ts";

/** The table of providers, after all migrations. */
export interface ProviderTables {
  providers: {
    id: string;
    /** Null: for all workspaces. */
    account_id: string | null;
    name: string;
    kind: ProviderKind;
    base_url: string | null;
    region: string | null;
    project: string | null;
    models: JSONColumnType<string[]> | null;
    credential: Buffer | null;
    hint: string | null;
    person_id: string | null;
    key_id: string | null;
    created_at: Generated<Date>;
    updated_at: Generated<Date>;
  };
}
