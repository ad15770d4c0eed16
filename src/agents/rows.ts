import type { Insertable, Selectable } from "kysely";
import type { Tables } from "../core/database/tables.ts";
import type { AgentState } from "./agent.ts";

/** The column of each field. `isHere` stands for the host. */
const columns = {
  id: "id",
  accountId: "account_id",
  name: "name",
  runtime: "runtime",
  model: "model",
  instructions: "instructions",
  mcpServers: "mcp_servers",
  agents: "agents",
  autoSnapshot: "auto_snapshot",
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
  installSteps: "install_steps",
  createdAt: "created_at",
  lastActiveAt: "last_active_at",
} as const satisfies Record<keyof Omit<AgentState, "isHere">, keyof Tables["agents"]>;

type Field = keyof typeof columns;
const fields = Object.entries(columns) as [Field, (typeof columns)[Field]][];

/** The small columns, which every read of agents selects. */
export const agentColumns = [...Object.values(columns), "host" as const];
export type AgentRow = Pick<Selectable<Tables["agents"]>, (typeof agentColumns)[number]>;

/** `host`: this server's. */
export function toState(row: AgentRow, host: string): AgentState {
  const state = Object.fromEntries(fields.map(([field, column]) => [field, row[column]]));
  return { ...state, isHere: row.host === host } as AgentState;
}

/** Fields in their stored form; undefined ones are left out. */
export function toColumns(state: Partial<Omit<AgentState, "isHere">>): Partial<Insertable<Tables["agents"]>> {
  const given = fields.filter(([field]) => state[field] !== undefined);
  return Object.fromEntries(given.map(([field, column]) => [column, written(state[field])]));
}

function written(value: unknown): unknown {
  const isJson = typeof value === "object" && value !== null && !(value instanceof Date);
  return isJson ? JSON.stringify(value) : value;
}
