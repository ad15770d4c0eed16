import type { ColumnType, Generated, JSONColumnType } from "kysely";
import type { ImportDetail } from "../archives/imports.ts";
import type { AcpProgram } from "../contract/acp-program.ts";
import type {
  AgentStatus,
  Fault,
  ForkedFrom,
  ImportedFrom,
  InstallStep,
  QueueHeld,
  Resources,
} from "../contract/agents.ts";
import type { Effort } from "../contract/effort.ts";
import type { McpServers } from "../contract/mcp-servers.ts";
import type { Permissions } from "../contract/permissions.ts";
import type { Schedules } from "../contract/schedules.ts";
import type { DesiredState } from "./agent.ts";

/** The tables of agents, after all migrations. */
export interface AgentTables {
  agents: {
    id: string;
    account_id: string;
    name: string;
    runtime: string;
    model: string | null;
    effort: Effort | null;
    instructions: string | null;
    acp: JSONColumnType<AcpProgram> | null;
    mcp_servers: ColumnType<McpServers, string | undefined, string>;
    agents: ColumnType<string[], string | undefined, string>;
    fallback_models: ColumnType<string[], string | undefined, string>;
    auto_snapshot: Generated<number>;
    permissions: ColumnType<Permissions, string | undefined, string>;
    schedules: JSONColumnType<Schedules> | null;
    max_credits: string | null;
    max_minutes: number | null;
    max_tool_calls: number | null;
    retold: string | null;
    conversation: Generated<number>;
    last_conversation: Generated<number>;
    resources: JSONColumnType<Resources>;
    image: string | null;
    /** The id of the data folder with its machine. */
    host: string | null;
    /** Its maker; null: unknown, or a key without a maker. */
    person_id: string | null;
    private: Generated<boolean>;
    has_machine: Generated<boolean>;
    desired: DesiredState;
    status: AgentStatus;
    generation: Generated<number>;
    restores: Generated<number>;
    snapshot: string | null;
    forked_from: JSONColumnType<ForkedFrom> | null;
    imported: JSONColumnType<ImportedFrom> | null;
    /** Large, so no look-up reads it (`agentColumns` of `agents.ts`). */
    import_detail: JSONColumnType<ImportDetail> | null;
    importing: Generated<boolean>;
    restarts: Generated<number>;
    error: JSONColumnType<Fault> | null;
    install_steps: JSONColumnType<InstallStep[]>;
    queue_length: Generated<number>;
    queue_held: QueueHeld;
    created_at: Generated<Date>;
    last_active_at: Generated<Date>;
    metered_until: Generated<Date | null>;
    /** A bigint, which comes as text; in micro-credits. */
    machine_price: Generated<string>;
  };
  /** Names that are hidden from others than `person_id`, in a period. */
  private_names: {
    agent_id: string;
    account_id: string;
    name: string;
    person_id: string | null;
    since: Date;
    until: Date | null;
  };
  /** Requests that have started a restart, a rollback or a conversation. */
  begun_requests: {
    id: string;
    agent_id: string;
    at: Generated<Date>;
  };
  machine_authors: {
    agent_id: string;
    kind: "command" | "file" | "message";
    ref: string;
    person_id: string | null;
    key_id: string | null;
    open: Generated<boolean>;
    created_at: Generated<Date>;
  };
  agent_secrets: {
    agent_id: string;
    name: string;
    hosts: JSONColumnType<string[]>;
    headers: JSONColumnType<string[]>;
    placeholder: string;
    value: Buffer;
    person_id: string | null;
    key_id: string | null;
    created_at: Generated<Date>;
    updated_at: Generated<Date>;
  };
  agent_authorities: { agent_id: string; certificate: string; key: Buffer };
  snapshots: {
    id: string;
    agent_id: string;
    name: string;
    reason: string;
    runtime: string;
    conversation: number;
    retold: string | null;
    has_memory: boolean;
    bytes: number;
    turn_id: string | null;
    undone: string[];
    person_id: string | null;
    key_id: string | null;
    created_at: Generated<Date>;
  };
  port_shares: {
    id: string;
    agent_id: string;
    port: number;
    secret_hash: Buffer;
    person_id: string | null;
    key_id: string | null;
    created_at: Generated<Date>;
    expires_at: Date | null;
  };
}
