import type { Generated, JSONColumnType } from "kysely";
import type { Role } from "../contract/workspaces.ts";
import type { StoredAdmission } from "./tickets.ts";

/** The tables of accounts, after all migrations. */
export interface AccountTables {
  accounts: {
    id: string;
    name: string;
    created_at: Generated<Date>;
    operator: Generated<boolean>;
    disabled_at: Date | null;
    deleted_at: Date | null;
    /** Null for a personal workspace. */
    name_key: string | null;
    /** Micro-credits, as bigints, which the driver returns as text. */
    balance: Generated<string>;
    held: Generated<string>;
    entries: Generated<string>;
    monthly_limit: string | null;
    month: Generated<Date | null>;
    month_spent: Generated<string>;
    /** In micro-credits, as text. */
    low_credits: string | null;
  };
  people: {
    id: string;
    issuer: string;
    subject: string;
    /** The personal workspace. */
    account_id: string;
    name: string;
    email: string | null;
    email_verified: Generated<boolean>;
    time_zone: string | null;
    disabled_at: Date | null;
    tokens_from: Date | null;
    created_at: Generated<Date>;
    last_seen_at: Date | null;
  };
  memberships: { person_id: string; account_id: string; role: Role; created_at: Generated<Date> };
  invitations: {
    id: string;
    account_id: string;
    token_hash: Buffer;
    role: Role;
    email: string | null;
    person_id: string | null;
    created_at: Generated<Date>;
    expires_at: Date;
    accepted_at: Date | null;
    revoked_at: Date | null;
  };
  api_keys: {
    id: string;
    account_id: string;
    /** Its maker; null: the operator's first key, and older keys of the operator. */
    person_id: string | null;
    role: Generated<Role>;
    name: string | null;
    kind: "full" | "agent";
    prefix: string;
    hash: Buffer;
    /** A bigint, which comes as text. */
    credit_limit: string | null;
    spent: Generated<string>;
    held: Generated<string>;
    last_used_at: Date | null;
    created_at: Generated<Date>;
    expires_at: Date | null;
    revoked_at: Date | null;
  };
  key_agents: { key_id: string; agent_id: string };
  tickets: { hash: string; admission: JSONColumnType<StoredAdmission>; expires_at: Date };
}
