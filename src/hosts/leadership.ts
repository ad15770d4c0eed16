import type { FolderLock } from "../config/folder-lock.ts";
import { asBerthError, BerthError } from "../contract/errors.ts";
import type { Viewer } from "../core/http/access.ts";
import type { Log } from "../core/log.ts";
import { pause } from "../core/retry.ts";
import { type AgentReference, type HostLease, type HostLeaseStore, leaseMs, type Term } from "./lease-store.ts";

/** The interval at which the leader renews its lease. */
const renewMs = 2_000;
/** A leader considers its lease expired this long before it expires. */
const marginMs = 1_000;
/** How often other servers check the lease. */
const lookMs = 250;
/** Pause after a failed take-over. */
const refusedMs = 1_000;
/** How long a request waits for a host's next leader. */
export const takeOverMs = 10_000;
const waitPollMs = 50;

export interface LeadershipOptions {
  host: string;
  /** A random id of this process. */
  server: string;
  rows: Pick<HostLeaseStore, "all" | "take" | "renew" | "release" | "endSessions" | "hostOf">;
  lock: Pick<FolderLock, "goneHolder" | "take" | "release">;
  lead: () => Promise<void>;
  log: Log;
}

/**
 * Decides which server leads a host's agents. Of those on one data folder one has the lease; the others check four times a
 * second whether it is free:
 *
 *    standby --(the lease is free, and the last leader's remaining work has ended)--> leading --> ended
 *
 * A leader that cannot renew continues, since no other server can take over without the database either; a server that
 * takes over ends its process and its database sessions first. One that finds itself replaced is `deposed`, and ends.
 */
export class Leadership {
  readonly host: string;
  readonly server: string;
  /** Resolves when another server has taken over. */
  readonly deposed: Promise<void>;
  readonly #options: LeadershipOptions;
  readonly #stop = new AbortController();
  readonly #deposed = Promise.withResolvers<void>();
  #state: "standby" | "leading" | "ended" = "standby";
  #url = "";
  #term: Term | null = null;
  #isDeposed = false;
  /** The end of the lease, on the monotonic clock. */
  #validUntil = 0;
  /** The time since which every check has reached the database, so that the leader could have renewed its lease. */
  #lookingSince = Number.POSITIVE_INFINITY;
  #renewing: Promise<void> | null = null;
  #leases: readonly HostLease[] = [];
  #reading: Promise<void> | null = null;
  #lastLogged = "";
  #running: Promise<void> = Promise.resolve();

  constructor(options: LeadershipOptions) {
    this.#options = options;
    this.host = options.host;
    this.server = options.server;
    this.deposed = this.#deposed.promise;
  }

  get leads(): boolean {
    return this.#state === "leading";
  }

  /** This server's term, even if another server has ended it; null while on standby. */
  get term(): Term | null {
    return this.#term;
  }

  /** Whether no other host has a lease. */
  get isOnlyHost(): boolean {
    return this.#leases.every(({ host }) => host === this.host);
  }

  /** Resolves after the first attempt to lead. `url`: where the other servers reach this one. */
  async begin(url: string): Promise<void> {
    this.#url = url;
    const first = this.#look();
    this.#running = first.then(() => this.#run());
    await first;
  }

  /** Stops leading: runs `finish`, which ends the leader's work, then releases the lease. */
  async end(finish: () => Promise<void>): Promise<void> {
    this.#state = "ended";
    this.#stop.abort();
    // A pending take-over ends first, so that its lease and lock are released, too.
    await this.#running;
    const renewal = setInterval(() => this.#renew().catch(() => {}), renewMs);
    await finish().finally(() => clearInterval(renewal));
    const term = this.#term;
    if (!term || this.#isDeposed) return;
    await this.#options.lock.release();
    await this.#options.rows.release(term).catch((error: unknown) => this.#log("a lease ends later", { error }));
    this.#term = null;
  }

  /**
   * Confirms the lease. Call it before each change of a machine. Throws `agent_elsewhere` if this server does not lead,
   * `shutting_down` if it has stopped leading, and `database_unavailable` if it cannot tell.
   */
  async confirm(): Promise<void> {
    if (this.#term !== null && performance.now() >= this.#validUntil) await this.#renew();
    if (this.#term !== null && !this.#isDeposed) return;
    const code = this.#state === "standby" ? "agent_elsewhere" : "shutting_down";
    throw new BerthError(code, "This server does not lead the agent's host.");
  }

  /** The leader of the host at the last check; null if none is known. */
  known(host: string): HostLease | null {
    return this.#leases.find((lease) => lease.host === host && !lease.isReleased) ?? null;
  }

  /**
   * The leader of the host, once there is one. `refused`: the one that is known was just found not to lead, or not yet.
   * Throws `agent_elsewhere` after `until`, where nobody has led for longer than a take-over takes, or when `gone`
   * aborts.
   */
  async leaderOf(host: string, refused: boolean, until: number, gone: AbortSignal): Promise<HostLease> {
    for (let again = refused; ; again = true) {
      if (again) {
        if (gone.aborted || performance.now() > until) throw nobodyLeads();
        await pause(waitPollMs, gone);
        await this.#readTogether().catch(() => {});
        if (this.#isForsaken(host)) throw nobodyLeads();
      }
      const lease = this.known(host);
      if (lease) return lease;
    }
  }

  #isForsaken(host: string): boolean {
    const lease = this.#leases.find((each) => each.host === host);
    return lease !== undefined && !lease.isValid && lease.restedMs > leaseMs + takeOverMs;
  }

  /** The host of an agent of the account that the viewer (null: anyone) may know; null without such an agent. */
  hostOf(accountId: string, agent: AgentReference, viewer: Viewer | null): Promise<string | null> {
    return this.#options.rows.hostOf(accountId, agent, viewer);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await pause(this.leads ? renewMs : lookMs, signal);
      if (!signal.aborted) await this.#look();
    }
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    try {
      if (this.leads) await this.#renew();
      await this.#read();
      if (this.#lookingSince === Number.POSITIVE_INFINITY) this.#lookingSince = performance.now();
      if (this.#state === "standby") await this.#tryToLead();
      this.#lastLogged = "";
    } catch (error) {
      this.#lookingSince = Number.POSITIVE_INFINITY;
      const { message } = asBerthError(error, "internal", String(error));
      if (message !== this.#lastLogged) this.#log("the lease of the host cannot be seen to", { error });
      this.#lastLogged = message;
      if (!this.leads) await pause(refusedMs, this.#stop.signal);
    }
  }

  /** Like `#read`, but shared by all waiting requests. */
  #readTogether(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #read(): Promise<void> {
    this.#leases = await this.#options.rows.all();
  }

  async #tryToLead(): Promise<void> {
    const { host, server, rows, lock, lead } = this.#options;
    const held = this.#leases.find((lease) => lease.host === host) ?? null;
    const dead = await lock.goneHolder();
    if (held && !this.#isFree(held, dead)) return;
    const asked = performance.now();
    const epoch = await rows.take({ host, server, url: this.#url }, dead);
    if (epoch === null) return;
    const term = { host, server, epoch };
    try {
      const before = held && !held.isReleased ? held.server : null;
      await lock.take(server, before);
      if (before !== null) await rows.endSessions(before);
      this.#term = term;
      this.#validUntil = asked + leaseMs - marginMs;
      await lead();
    } catch (error) {
      this.#term = null;
      await rows.release(term);
      throw error;
    }
    if (this.#stop.signal.aborted) return;
    this.#state = "leading";
    this.#log("this server leads the host's agents", { epoch });
    await this.#read();
  }

  #isFree({ server, isValid, isReleased }: HostLease, dead: string | null): boolean {
    if (isReleased || server === dead) return true;
    // After an outage of the database, the old leader may renew first.
    return !isValid && performance.now() - this.#lookingSince > leaseMs;
  }

  /** Throws `database_unavailable`. */
  #renew(): Promise<void> {
    this.#renewing ??= this.#renewOnce().finally(() => {
      this.#renewing = null;
    });
    return this.#renewing;
  }

  async #renewOnce(): Promise<void> {
    const asked = performance.now();
    const term = this.#term;
    if (term === null || this.#isDeposed) return;
    if (await this.#options.rows.renew(term)) {
      this.#validUntil = asked + leaseMs - marginMs;
      return;
    }
    // It keeps its term, so that the database continues to refuse its sessions.
    this.#state = "ended";
    this.#isDeposed = true;
    this.#stop.abort();
    this.#log("another server leads the host's agents now: this one has lost its lease", {});
    this.#deposed.resolve();
  }

  #log(message: string, fields: Record<string, unknown>): void {
    this.#options.log(message, { host: this.host, server: this.server, ...fields });
  }
}

function nobodyLeads(): BerthError {
  return new BerthError("agent_elsewhere", "No server leads the agent's host at the moment; try again soon.");
}
