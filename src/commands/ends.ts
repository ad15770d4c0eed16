import type { AppContext } from "../context.ts";
import type { CommandExit } from "../contract/commands.ts";
import { LookLoop } from "../core/look-loop.ts";
import type { OpenCommand } from "./store.ts";

const lookEveryMs = 2_000;
/** Between two questions to a machine that failed to answer the first one. */
const retryMs = 10_000;

/** The end of a command that its machine does not have: the machine was reset, or has removed its record. */
const lost: CommandExit = { exitCode: null, signal: null, timedOut: false, lost: true };

/** A question to a machine. */
interface Watch {
  commands: ReadonlySet<string>;
  stop: AbortController;
  /** When the machine may be asked again, on the clock of `performance.now`; infinite while nothing would be new. */
  againAt: number;
  work: Promise<void>;
}

/**
 * Reports the ends of commands in `/events`. The machines keep the commands, so running ones are asked for those that the
 * database does not know the end of. This neither wakes a machine nor keeps it awake.
 */
export class CommandEnds {
  readonly #context: AppContext;
  readonly #loop: LookLoop;
  readonly #watches = new Map<string, Watch>();

  constructor(context: AppContext) {
    this.#context = context;
    this.#loop = new LookLoop(
      lookEveryMs,
      () => this.#look(),
      (error) => context.log("the open commands could not be read; it is tried again", { error }),
    );
  }

  begin(): void {
    this.#loop.begin();
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
    for (const { stop } of this.#watches.values()) stop.abort();
    await Promise.all([...this.#watches.values()].map(({ work }) => work));
  }

  async #look(): Promise<void> {
    const open = await this.#context.stores.commands.open();
    for (const [agentId, { stop }] of this.#watches) {
      if (open.has(agentId)) continue;
      stop.abort();
      this.#watches.delete(agentId);
    }
    for (const [agentId, commands] of open) {
      const current = this.#watches.get(agentId);
      const isNew = commands.some(({ id }) => !current?.commands.has(id));
      if (current && !isNew && performance.now() < current.againAt) continue;
      current?.stop.abort();
      this.#watches.set(agentId, this.#watch(agentId, commands));
    }
  }

  #watch(agentId: string, open: readonly OpenCommand[]): Watch {
    const stop = new AbortController();
    const commands = new Set(open.map(({ id }) => id));
    // A recent one that the machine does not have is lost if it still does not have it later.
    const againAt = open.some(({ isRecent }) => isRecent) ? performance.now() + retryMs : Number.POSITIVE_INFINITY;
    const watch: Watch = { commands, stop, againAt, work: Promise.resolve() };
    watch.work = this.#ask(agentId, open, stop.signal).then(
      () => {
        watch.againAt = 0;
      },
      (error: unknown) => {
        watch.againAt = performance.now() + retryMs;
        if (!stop.signal.aborted) this.#context.log("an agent's commands could not be watched", { agentId, error });
      },
    );
    return watch;
  }

  async #ask(agentId: string, commands: readonly OpenCommand[], gone: AbortSignal): Promise<void> {
    const guest = await this.#context.leases.ifRunning(agentId);
    if (!guest) return;
    const ids = commands.map(({ id }) => id);
    const open = new Set(ids);
    // A machine may not have the others yet.
    const known = commands.filter(({ id, isRecent }) => !isRecent && !this.#context.commands.isStarting(id));
    const mayBeLost = new Set(known.map(({ id }) => id));
    for await (const ends of guest.commandEnds({ ids }, { signal: gone })) {
      for (const { id, exit } of ends) {
        if ((exit || mayBeLost.has(id)) && open.delete(id))
          await this.#context.stores.commands.end(agentId, id, exit ?? lost);
      }
    }
  }
}
