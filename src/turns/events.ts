import type { AppContext } from "../context.ts";
import { hasEnded, type SequencedEvent, statusAfter } from "../contract/chat.ts";
import { Backoff } from "../core/retry.ts";
import type { TurnState } from "./turn.ts";

const leastPollMs = 200;
const mostPollMs = 1_000;
/** The highest event number: the database stores 32 bits. */
const lastPossible = 2 ** 31 - 1;

export class TurnEvents {
  readonly #context: AppContext;

  constructor(context: AppContext) {
    this.#context = context;
  }

  /**
   * A turn's stored events after `after`, then new ones up to its last. A turn that waits, and a running one that this
   * server has not resumed yet, is read from the store until then.
   */
  async *follow({ id, agentId }: TurnState, after: number, signal: AbortSignal): AsyncGenerator<SequencedEvent[]> {
    const rows = this.#context.stores.turns;
    const backoff = new Backoff(leastPollMs, mostPollMs);
    for (let cursor = Math.min(after, lastPossible); !signal.aborted; ) {
      const running = this.#context.running.get(id);
      if (running) {
        yield* running.log.read(cursor, signal);
        if (running.log.ended && cursor >= running.nextSeq - 1) yield this.#lastOf(id, cursor);
        return;
      }
      // In this order: once a turn has ended, all its events are stored.
      const turn = await rows.find(agentId, id);
      const page = await rows.events(id, cursor);
      if (page.length > 0) {
        cursor = page.at(-1)!.seq;
        backoff.reset();
        yield page;
        if (statusAfter(page.at(-1)!.event) !== "running") return;
      } else if (!turn || hasEnded(turn.status)) {
        if (turn && cursor > 0) yield this.#lastOf(id, cursor);
        return;
      } else {
        await this.#context.running.untilStarted(id, backoff.next(), signal);
      }
    }
  }

  /**
   * The last event of an ended turn, for a reader whose cursor is at or beyond it: it may have seen events that were
   * lost with the machine before they were stored. Empty for other readers.
   */
  async #lastOf(id: string, cursor: number): Promise<SequencedEvent[]> {
    const rows = this.#context.stores.turns;
    const { last } = await rows.progress(id);
    const [entry] = cursor < last ? [] : await rows.events(id, last - 1);
    return entry && (cursor > last || entry.event.type !== "response.completed") ? [entry] : [];
  }

  /** The number of the turn's last event so far; 0: none. */
  async last({ id }: TurnState): Promise<number> {
    const running = this.#context.running.get(id);
    return running ? running.log.nextSeq - 1 : (await this.#context.stores.turns.progress(id)).last;
  }
}
