import { type Insertable, type Selectable, sql } from "kysely";
import type { Tables } from "../core/database/tables.ts";
import type { Owned } from "../core/http/access.ts";
import type { AgentState } from "./agent.ts";

/** A field that is not a column of its own. `isHere` stands for the host. */
type Derived = "isHere" | "personName" | "privateSource";

/** The column of each field. */
const columns = {
  id: "id",
  accountId: "account_id",
  personId: "person_id",
  name: "name",
  runtime: "runtime",
  model: "model",
  effort: "effort",
  instructions: "instructions",
  acp: "acp",
  mcpServers: "mcp_servers",
  agents: "agents",
  fallbackModels: "fallback_models",
  autoSnapshot: "auto_snapshot",
  permissions: "permissions",
  schedules: "schedules",
  maxCredits: "max_credits",
  maxMinutes: "max_minutes",
  maxToolCalls: "max_tool_calls",
  private: "private",
  retold: "retold",
  conversation: "conversation",
  resources: "resources",
  image: "image",
  hasMachine: "has_machine",
  desired: "desired",
  status: "status",
  generation: "generation",
  restarts: "restarts",
  restores: "restores",
  snapshot: "snapshot",
  forkedFrom: "forked_from",
  imported: "imported",
  isImporting: "importing",
  error: "error",
  queueLength: "queue_length",
  queueHeld: "queue_held",
  installSteps: "install_steps",
  createdAt: "created_at",
  lastActiveAt: "last_active_at",
} as const satisfies Record<keyof Omit<AgentState, Derived>, keyof Tables["agents"]>;

type Field = keyof typeof columns;
const fields = Object.entries(columns) as [Field, (typeof columns)[Field]][];

/** Read by an index, and for forks only. */
const privateSource = sql<Owned | null>`case when agents.forked_from is not null then (
  select jsonb_build_object('private', true, 'personId', source.person_id) from private_names source
  where source.account_id = agents.account_id and source.name = agents.forked_from ->> 'agent'
    and agents.created_at >= source.since and (source.until is null or agents.created_at < source.until)
  limit 1) end`.as("private_source");

/** The small columns, which every read of agents selects. */
export const agentColumns = [
  ...Object.values(columns),
  "host" as const,
  sql<string | null>`(select people.name from people where people.id = agents.person_id)`.as("person_name"),
  privateSource,
];
/** The same for a join with `people`: a subquery would read that table for each agent of a list. */
export const joinedColumns = [
  ...Object.values(columns).map((column) => `agents.${column}` as const),
  "agents.host" as const,
  "people.name as person_name" as const,
  privateSource,
];
export type AgentRow = Pick<Selectable<Tables["agents"]>, (typeof columns)[Field] | "host"> & {
  person_name: string | null;
  private_source: Owned | null;
};

/** `host`: this server's. */
export function toState(row: AgentRow, host: string): AgentState {
  const state = Object.fromEntries(fields.map(([field, column]) => [field, row[column]]));
  const { person_name: personName, private_source: privateSource } = row;
  return { ...state, personName, privateSource, isHere: row.host === host } as AgentState;
}

/** Fields in their stored form; undefined ones are left out. */
export function toColumns(state: Partial<Omit<AgentState, Derived>>): Partial<Insertable<Tables["agents"]>> {
  const given = fields.filter(([field]) => state[field] !== undefined);
  return Object.fromEntries(given.map(([field, column]) => [column, written(state[field])]));
}

function written(value: unknown): unknown {
  const isJson = typeof value === "object" && value !== null && !(value instanceof Date);
  return isJson ? JSON.stringify(value) : value;
}
