import type { Generated, JSONColumnType } from "kysely";
import type { EgressOutcome, EgressRefusal } from "../contract/egress.ts";

/** The tables of the network policy, after all migrations. */
export interface EgressTables {
  network_rules: {
    agent_id: string;
    allow: JSONColumnType<string[]>;
    deny: JSONColumnType<string[]>;
    ask: Generated<boolean>;
    person_id: string | null;
    key_id: string | null;
  };
  network_log: {
    id: string;
    agent_id: string;
    started_at: Date;
    finished_at: Date;
    reason: EgressRefusal | null;
    outcome: EgressOutcome | null;
    host: string;
    port: number | null;
    address: string | null;
    /** Bigints, which come as text. */
    bytes_sent: string;
    bytes_received: string;
    count: number;
  };
}
