import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../src/core/database/database.ts";
import { cleanUp } from "../../src/upkeep/clean-up-store.ts";
import { databaseOf } from "../support/accounts.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// Each table says what bounds its rows, so that no account fills the database that all share.

/**
 * `clean-up`: `cleanUp` removes rows by age or number. A table in brackets: its rows go with the rows of that one, which
 * have few each. A text: the limit where rows are inserted, or their only cause.
 */
const bounds: Record<string, "clean-up" | [parent: string, few: string] | string> = {
  account_event_counter: "one row",
  account_events: "clean-up",
  account_events_removed: "one row for each account",
  accepted_orphans: "the operator decides about files",
  accounts: "the operator adds users; an issuer's users sign in, with 100 workspaces each",
  acme_accounts: "one for each BERTH_ACME_DIRECTORY",
  acme_certificates: "one for each name of BERTH_PUBLIC_URL at a directory",
  acme_challenges: "one for each order under way; an order removes expired ones",
  agent_authorities: ["agents", "one"],
  agent_notify: ["agents", "one for each member"],
  agent_secrets: ["agents", "50"],
  agents: "BERTH_MAX_AGENTS_PER_ACCOUNT",
  api_keys: "clean-up",
  audit_entries: "clean-up",
  automation_deliveries: ["automations", "100 and 20 refused ones, removed where rows are inserted"],
  automation_delivery_ids: "clean-up",
  automation_hooks: ["automations", "one"],
  automation_runs: "clean-up",
  automations: "BERTH_MAX_AUTOMATIONS_PER_ACCOUNT",
  turn_credits: "one for each running turn with a limit, removed when it has ended",
  approvals: "up to 2,000 for each turn, removed with it",
  begun_requests: "clean-up",
  client_chats: ["conversations", "one"],
  conversations: ["agents", "1,000"],
  credit_entries: "each is paid for, by minutes and turns",
  credit_holds: "one for each running turn and machine",
  credit_usage: "one row for each day, model, agent and key that was charged",
  dashboard_sessions: "clean-up",
  host_leases: "clean-up",
  hosts: "one for each host",
  idempotency_keys: "clean-up",
  inbox_items: "clean-up",
  invitations: "clean-up",
  key_agents: ["api_keys", "the account's agents"],
  kysely_migration: "one for each migration",
  kysely_migration_lock: "one row",
  machine_authors: "clean-up",
  memberships: ["accounts", "1,000"],
  network_log: "clean-up",
  network_rules: ["agents", "one, with 200 rules"],
  notification_sends: "20 for each person and channel; older ones are removed where rows are inserted",
  notifications: "clean-up",
  notified_events: "one row",
  oidc_records: "clean-up",
  openai_conversations: "clean-up",
  openai_file_chunks: ["openai_files", "32"],
  openai_files: "clean-up",
  people: "as accounts",
  port_shares: ["agents", "100"],
  private_names: "clean-up",
  profiles: "one for each person",
  provider_keys: "the service's own",
  push_subscriptions: ["people", "20"],
  rate_limits: "clean-up",
  removals: "clean-up",
  responses: "clean-up",
  retold_conversations: "those that no agent, conversation and snapshot names are removed after a day",
  provider_logins: ["providers", "one"],
  providers: "50 for each account",
  seen_turns: "clean-up",
  search_queue: ["turns", "one"],
  search_texts: ["turns", "two, of 64 KiB"],
  sign_in_attempts: "clean-up",
  snapshots: ["agents", "BERTH_MAX_SNAPSHOTS"],
  tickets: "clean-up",
  turn_diffs: ["turns", "one of 1 MiB"],
  turn_events: ["turns", "BERTH_MAX_TURN_MIB"],
  turns: "clean-up",
  upload_chunks: ["uploads", "100"],
  uploads: "clean-up",
  user_links: "clean-up",
  users: "the operator adds them",
  webhook_deliveries: "1,000 that wait and 100 that ended for each webhook; a sweep removes others each minute",
  skill_agents: ["skills", "the account's agents"],
  skills: ["accounts", "50"],
  secret_logins: ["workspace_secrets", "one"],
  workspace_secret_agents: ["workspace_secrets", "the account's agents"],
  workspace_secret_versions: ["accounts", "one"],
  workspace_secrets: ["accounts", "100"],
  webhooks: "BERTH_MAX_WEBHOOKS_PER_ACCOUNT, and for tasks of A2A 1,000 for each account",
};

let service: ScriptedService;
let database: Database;
beforeAll(async () => {
  service = await ScriptedService.start();
  database = await databaseOf(service);
});
afterAll(async () => {
  await database.destroy();
  await service[Symbol.asyncDispose]();
});

test("each table is listed with its bound", async () => {
  const { rows } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE'`.execute(database);
  expect(rows.map(({ name }) => name).toSorted()).toEqual(Object.keys(bounds).toSorted());
});

const cleaned = Object.keys(bounds).filter((table) => bounds[table] === "clean-up");

test.each(cleaned)("the clean-up looks at %s", async (table) => {
  const failed: unknown[] = [];
  const elsewhere = sql.table(`${table}_elsewhere`);
  await sql`alter table ${sql.table(table)} rename to ${elsewhere}`.execute(database);
  try {
    await cleanUp(database, { ...service.config, turnDays: 1 }, (_, error) => failed.push(String(error)));
  } finally {
    await sql`alter table ${elsewhere} rename to ${sql.table(table)}`.execute(database);
  }
  expect(failed).toContainEqual(expect.stringContaining(`"${table}" does not exist`));
});

const children = Object.entries(bounds).flatMap(([table, bound]) => (Array.isArray(bound) ? [[table, bound[0]]] : []));

test.each(children)("rows of %s go with those of %s", async (table, parent) => {
  const { rows } = await sql`
    select from pg_constraint where contype = 'f' and confdeltype = 'c'
      and conrelid = ${table}::regclass and confrelid = ${parent}::regclass`.execute(database);
  expect(rows).toHaveLength(1);
});
