import { setImmediate } from "node:timers/promises";
import type { AppContext } from "../context.ts";
import { searchedLength } from "../contract/search.ts";
import type { SearchText, UnsearchedTurn } from "./store.ts";
import { accountWord, agentWord, wordsOf } from "./words.ts";

/** Turns of one transaction. */
const batch = 20;

/**
 * Stores ended turns for the search, in the background: a turn's end only queues it. The next server stores the turns that
 * one leaves behind.
 */
export class SearchIndexer {
  readonly #context: AppContext;
  #isWoken = false;
  #work: Promise<void> | null = null;
  #stopped = false;

  constructor(context: AppContext) {
    this.#context = context;
  }

  /** Stores the turns that are waiting. Called for each turn that ends, and periodically for those left behind. */
  wake(): void {
    this.#isWoken = true;
    this.#work ??= this.#run().finally(() => {
      this.#work = null;
      if (this.#isWoken && !this.#stopped) this.wake();
    });
  }

  /** Resolves when the transaction under way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#work;
  }

  async #run(): Promise<void> {
    const { stores, log } = this.#context;
    try {
      while (this.#isWoken && !this.#stopped) {
        this.#isWoken = false;
        if ((await stores.search.storeNext(batch, textsOf)) > 0) this.#isWoken = true;
      }
    } catch (error) {
      // The next turn's end or the sweep tries again.
      if (!this.#stopped) log("turns could not be stored for the search", { error });
    }
  }
}

async function textsOf({ turnId, accountId, agentId, message, reply }: UnsearchedTurn): Promise<SearchText[]> {
  const texts: SearchText[] = [];
  for (const [kind, given] of [
    ["message", message],
    ["reply", reply],
  ] as const) {
    const text = given.slice(0, searchedLength).toWellFormed().normalize("NFC").slice(0, searchedLength).toWellFormed();
    const words = wordsOf(text);
    if (words.length > 0)
      texts.push({ turnId, kind, text, words: [accountWord(accountId), agentWord(agentId), ...words] });
    await setImmediate(); // A long text takes some milliseconds.
  }
  return texts;
}
