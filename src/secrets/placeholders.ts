import type { AppContext } from "../context.ts";
import type { GuestSecrets } from "../contract/guest.ts";
import { SerialQueue } from "../core/locks.ts";
import { LookLoop } from "../core/look-loop.ts";
import { setRecent } from "../core/recent.ts";
import { pause } from "../core/retry.ts";
import type { Stores } from "../stores.ts";

const lookEveryMs = 2_000;
/** Between two tries with a machine that did not take its placeholders. */
const retryMs = 10_000;
/** The maximum number of machines that are given placeholders at once. */
const maximumBusy = 16;
/** How long a change waits for the machines that run. */
const catchUpMs = 3_000;
/** The maximum number of agents whose version is remembered. Others are given the same placeholders again. */
const maximumSeen = 10_000;

/** The machine's part: placeholders and the authority, never the values. */
export async function guestSecrets(
  { usableSecrets, secrets }: Pick<Stores, "usableSecrets" | "secrets">,
  agentId: string,
): Promise<GuestSecrets> {
  const placeholders = await usableSecrets.placeholders(agentId);
  const hasAny = Object.keys(placeholders).length > 0;
  const authority = await (hasAny ? secrets.authorityOf(agentId) : secrets.authority(agentId));
  return { placeholders, authority: authority?.certificate ?? null };
}

/**
 * Gives machines that run the placeholders of their agents' secrets. Machines that start or wake get them with their
 * adoption. Changes of workspaces' secrets are read from the database, because any server may have made them.
 */
export class Placeholders {
  readonly #context: AppContext;
  readonly #loop: LookLoop;
  /** The version of the workspace's secrets that the machine of an agent has. */
  readonly #seen = new Map<string, string>();
  readonly #busy = new Map<string, Promise<void>>();
  readonly #giving = new SerialQueue();
  /** When a machine may be tried again, on the clock of `performance.now`. */
  readonly #againAt = new Map<string, number>();

  constructor(context: AppContext) {
    this.#context = context;
    this.#loop = new LookLoop(
      lookEveryMs,
      () => this.#look(),
      (error) => context.log("changes of workspaces' secrets could not be read; it is tried again", { error }),
    );
  }

  begin(): void {
    this.#loop.begin();
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
    await Promise.all(this.#busy.values());
  }

  /** Gives an agent's machine its placeholders, and closes its connections that used others. Never rejects. */
  async provide(agentId: string): Promise<void> {
    await this.#give(agentId);
  }

  /** Looks for changes at once, and waits a moment for the machines of this host to have them. */
  async catchUp(): Promise<void> {
    if (!this.#context.leads) return;
    try {
      await this.#look();
    } catch {
      return this.#loop.wake();
    }
    const waited = new AbortController();
    const busy = Promise.all(this.#busy.values());
    await Promise.race([busy, pause(catchUpMs, waited.signal)]);
    waited.abort();
  }

  async #look(): Promise<void> {
    const versions = await this.#context.stores.vault.versions();
    for (const agentId of this.#againAt.keys()) if (!versions.has(agentId)) this.#againAt.delete(agentId);
    for (const [agentId, version] of versions) {
      if (this.#busy.size >= maximumBusy) return;
      const isDue = this.#seen.get(agentId) !== version && (this.#againAt.get(agentId) ?? 0) <= performance.now();
      if (!isDue || this.#busy.has(agentId)) continue;
      this.#busy.set(agentId, this.#update(agentId, version));
    }
  }

  async #update(agentId: string, version: string): Promise<void> {
    const given = await this.#give(agentId);
    this.#busy.delete(agentId);
    if (given !== "given") return;
    setRecent(this.#seen, agentId, version, maximumSeen);
    // For those beyond `maximumBusy`, and a change that was made meanwhile.
    this.#loop.wake();
  }

  /** One at a time for an agent, so that the last one has the current secrets. */
  #give(agentId: string): Promise<"given" | "not running" | "failed"> {
    return this.#giving.run(agentId, async () => {
      const { stores, leases, egress, log } = this.#context;
      try {
        await egress.recheck(agentId);
        const guest = await leases.ifRunning(agentId);
        if (!guest) return "not running";
        await guest.provideSecrets(await guestSecrets(stores, agentId));
        this.#againAt.delete(agentId);
        return "given";
      } catch (error) {
        this.#againAt.set(agentId, performance.now() + retryMs);
        log("a machine was not given its secrets", { agentId, error });
        return "failed";
      }
    });
  }
}
