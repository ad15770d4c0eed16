import type { Generated } from "kysely";

/** The tables of hosts, after all migrations. */
export interface HostTables {
  host_leases: {
    host: string;
    server: string;
    url: string;
    /** A bigint, which comes as text. */
    epoch: Generated<string>;
    renewed_at: Generated<Date>;
    expires_at: Date;
  };
  hosts: { id: string; known_since: Generated<Date> };
  removals: { id: string; removed_at: Generated<Date> };
  accepted_orphans: { id: string; accepted_at: Generated<Date> };
}
