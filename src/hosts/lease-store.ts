import { sql } from "kysely";
import type pg from "pg";
import { BerthError } from "../contract/errors.ts";
import type { Database } from "../core/database/database.ts";
import { visibleTo } from "../core/database/private-agents.ts";
import type { Viewer } from "../core/http/access.ts";
import { pause } from "../core/retry.ts";

/** A lease's duration, by the database's clock. */
export const leaseMs = 6_000;

/** A server's time as a host's leader. */
export interface Term {
  host: string;
  server: string;
  /** Incremented by each take-over. */
  epoch: number;
}

export interface HostLease extends Term {
  /** The URL at which other servers reach this one. */
  url: string;
  isValid: boolean;
  /** The time since its last renewal, in milliseconds. */
  restedMs: number;
  /** Released by a server that shut down cleanly. */
  isReleased: boolean;
}

/** An agent, by its name or by a response (a uuid) that it gave. */
export type AgentReference = { name: string } | { response: string };

/** How long the database's sessions of another server may take to end. */
const endTimeoutMs = 5_000;
const endPollMs = 50;
const leaseSpan = `${leaseMs} milliseconds`;

/** The hosts' leases, by the database's clock. It needs a separate pool, so that a renewal waits for no other query. */
export class HostLeaseStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async all(): Promise<HostLease[]> {
    const { rows } = await sql<Omit<HostLease, "epoch"> & { epoch: string }>`
      select host, server, url, epoch, expires_at > now() as "isValid", expires_at = '-infinity' as "isReleased",
        (extract(epoch from now() - renewed_at) * 1000)::float8 as "restedMs"
      from host_leases`.execute(this.#database);
    return rows.map((row) => ({ ...row, epoch: Number(row.epoch) }));
  }

  async take({ host, server, url }: Omit<Term, "epoch"> & { url: string }, dead: string | null) {
    const { rows } = await sql<{ epoch: string }>`
      insert into host_leases (host, server, url, expires_at)
      values (${host}, ${server}, ${url}, now() + ${leaseSpan}::interval)
      on conflict (host) do update set
        server = excluded.server, url = excluded.url, epoch = host_leases.epoch + 1,
        renewed_at = now(), expires_at = excluded.expires_at
      where host_leases.expires_at <= now() or host_leases.server = ${dead}
      returning epoch`.execute(this.#database);
    return rows[0] ? Number(rows[0].epoch) : null;
  }

  async renew({ host, server, epoch }: Term): Promise<boolean> {
    const { numAffectedRows } = await sql`
      update host_leases set renewed_at = now(), expires_at = now() + ${leaseSpan}::interval
      where host = ${host} and server = ${server} and epoch = ${epoch}`.execute(this.#database);
    return numAffectedRows === 1n;
  }

  async release({ host, server, epoch }: Term): Promise<void> {
    await sql`
      update host_leases set expires_at = '-infinity', renewed_at = now()
      where host = ${host} and server = ${server} and epoch = ${epoch}`.execute(this.#database);
  }

  async endSessions(server: string): Promise<void> {
    for (const until = performance.now() + endTimeoutMs; ; await pause(endPollMs)) {
      const { rows } = await sql<{ ended: boolean }>`
        select pg_terminate_backend(pid) as ended from pg_stat_activity
        where application_name = ${sessionName(server)}`.execute(this.#database);
      if (rows.length === 0) return;
      if (performance.now() > until) throw new Error(`Database sessions of the server ${server} do not end.`);
    }
  }

  async hostOf(accountId: string, agent: AgentReference, viewer: Viewer | null): Promise<string | null> {
    const ofAccount = this.#database.selectFrom("agents").select("host").where("account_id", "=", accountId);
    const rows = viewer === null ? ofAccount : ofAccount.where(visibleTo(viewer, "oversee"));
    const row =
      "name" in agent
        ? rows.where("name", "=", agent.name)
        : rows.where("id", "in", (select) =>
            select.selectFrom("responses").select("agent_id").where("responses.id", "=", agent.response),
          );
    return (await row.executeTakeFirst())?.host ?? null;
  }
}

/** The use of a server's database sessions: its process and, while it leads a host, its term. */
export interface SessionOwner {
  readonly server: string;
  readonly term: Term | null;
}

/**
 * Marks each new session of a pool with its server, then refuses it if that server no longer leads. The order matters:
 * a session that is admitted before a take-over is already marked, so the new leader can end it. Thus no session of a
 * deposed server can write, and statements need no check.
 */
export function admitSessions(owner: SessionOwner): (client: pg.ClientBase) => Promise<void> {
  return async (client) => {
    await client.query("select set_config('application_name', $1, false)", [sessionName(owner.server)]);
    const { term } = owner;
    if (term === null) return;
    const { rowCount } = await client.query("select from host_leases where host = $1 and server = $2 and epoch = $3", [
      term.host,
      term.server,
      term.epoch,
    ]);
    if (rowCount === 0) throw new BerthError("shutting_down", "Another server leads this host's agents now.");
  };
}

/** At most 63 bytes. */
function sessionName(server: string): string {
  return `berth ${server}`;
}
