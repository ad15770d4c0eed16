import { type AccountEvent, ApiError, type Berth } from "@berth/client";
import type { FirstAnswers } from "./first-answers.ts";

const retryMs = 2_000;

/**
 * The account's events. A browser opens up to six connections to a service, so one of its tabs follows the events and
 * shares them with the others. When that tab is closed, another continues after the last event.
 */
export class AccountNews {
  readonly #berth: Pick<Berth, "events">;
  readonly #topic: string;
  readonly #first: FirstAnswers | null;
  readonly #listeners = new Set<(event: AccountEvent) => void>();
  #following: AbortController | null = null;
  /** Undefined before the first event. */
  #lastId: number | undefined;

  /** `topic`: what the tabs that share the events have in common. `first`: answers that are true until the first event. */
  constructor(berth: Pick<Berth, "events">, topic: string, first: FirstAnswers | null = null) {
    this.#berth = berth;
    this.#topic = topic;
    this.#first = first;
    this.#lastId = first?.after;
  }

  /** Calls back with each event from now on. Returns a function that ends this. */
  listen(listener: (event: AccountEvent) => void): () => void {
    this.#listeners.add(listener);
    this.#following ??= this.#begin();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#following?.abort();
      this.#following = null;
      this.#lastId = undefined;
    };
  }

  #begin(): AbortController {
    const abort = new AbortController();
    const { signal } = abort;
    const channel = new BroadcastChannel(this.#topic);
    channel.onmessage = ({ data }: MessageEvent<AccountEvent>) => this.#tell(data);
    signal.addEventListener("abort", () => channel.close());
    const lead = () => this.#follow(signal, (event) => channel.postMessage(event));
    void this.#catchUp(signal);
    // Without TLS a browser has locks on localhost only: elsewhere each tab follows the events itself.
    const leading = navigator.locks ? navigator.locks.request(this.#topic, { signal }, lead) : lead();
    leading.catch(() => {}); // Aborted while it waited.
    return abort;
  }

  /** Another tab that follows the events may have shared some before this one listened. */
  async #catchUp(signal: AbortSignal): Promise<void> {
    const id = this.#lastId;
    if (id === undefined || !navigator.locks) return;
    const { held = [] } = await navigator.locks.query();
    if (signal.aborted || !held.some(({ name }) => name === this.#topic)) return;
    this.#tell({ type: "events.opened", id, at: new Date().toISOString() });
  }

  async #follow(signal: AbortSignal, share: (event: AccountEvent) => void): Promise<void> {
    while (!signal.aborted) {
      try {
        const after = this.#lastId;
        for await (const event of this.#berth.events(after === undefined ? { signal } : { after, signal })) {
          this.#tell(event);
          share(event);
        }
      } catch (error) {
        // The id is of another database, such as one before a restored backup.
        if (error instanceof ApiError && error.statusCode === 400) this.#lastId = undefined;
      }
      if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
  }

  #tell(event: AccountEvent): void {
    this.#first?.clear();
    this.#lastId = event.id;
    for (const listener of this.#listeners) listener(event);
  }
}
