import { setRecent } from "./recent.ts";
import { Backoff, isTransient, pause } from "./retry.ts";

/** How long what was read of a login is used. Another server may have changed it. */
const freshMs = 2_000;
const maximumKnown = 1_000;
/** How long a call waits for the refresh of another server. */
const waitMs = 15_000;
const waitStepMs = 200;
/** Between two tries to store tokens that were refreshed: no other server may refresh the old ones. */
const storeMs = [200, 1_000] as const;

/** The other side refuses for good. The message is for people, and contains nothing that it sent. */
export class LoginRefused extends Error {}

/** Tokens could not be refreshed. The message completes a sentence about the login. */
export class RefreshFailed extends Error {}

/** Tokens for a call, and their version, which increases with each change. */
export interface UsableTokens<Tokens> {
  tokens: Tokens;
  version: string;
}

/** A login as a store returns it. `tokens` null: there are none, or they were encrypted with another secret key. */
interface StoredTokens<Tokens> {
  tokens: Tokens | null;
  version: string;
}

/** A store of logins, by their ids. All servers share it. */
interface TokenRows<Tokens, Read, Refreshed> {
  find(id: string): Promise<Read | null>;
  /** Claims the refresh for a while. Null: another server has begun it, or the tokens have changed. */
  claimRefresh(id: string, version: string): Promise<Tokens | "unreadable" | null>;
  refreshed(id: string, version: string, tokens: Refreshed): Promise<void>;
  /** The other side did not answer. */
  refreshLater(id: string, version: string): Promise<void>;
  refuse(id: string, version: string, reason: string): Promise<unknown>;
}

interface FreshTokensOptions<Tokens, Read, Refreshed> {
  rows: TokenRows<Tokens, Read, Refreshed>;
  /** Throws `LoginRefused`, or another error if the other side does not answer. */
  refresh: (before: Tokens) => Promise<Refreshed>;
  /** A login was changed here. */
  changed: (id: string) => void;
  /** Reports new tokens that could not be stored. */
  failed: (error: unknown) => void;
}

/**
 * Tokens that several servers use and refresh. A refresh token may be valid once, so one server claims the refresh and the
 * others wait for it. New tokens are used at once, and stored as soon as the database takes them.
 */
export class FreshTokens<
  Tokens,
  Read extends StoredTokens<Tokens>,
  Refreshed extends { tokens: Tokens } = { tokens: Tokens },
> {
  readonly #options: FreshTokensOptions<Tokens, Read, Refreshed>;
  readonly #known = new Map<string, Read & { at: number }>();
  readonly #refreshing = new Map<string, Promise<void>>();
  /** Tokens that were refreshed and are not stored yet. */
  readonly #unsaved = new Map<string, UsableTokens<Tokens> & { saved: Promise<void> }>();
  /** Logins whose tokens were encrypted with another secret key. */
  readonly #unreadable = new Set<string>();
  readonly #stopped = new AbortController();

  constructor(options: FreshTokensOptions<Tokens, Read, Refreshed>) {
    this.#options = options;
  }

  /** Resolves when refreshes that have begun have ended. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all([...this.#refreshing.values()].map((refreshing) => refreshing.catch(() => {})));
    await this.#savedAll();
  }

  /** The next call reads the login again. */
  forget(id: string): void {
    this.#known.delete(id);
    this.#options.changed(id);
  }

  /** Whether a refresh is under way here, or cannot succeed. */
  isBusy(id: string): boolean {
    return this.#refreshing.has(id) || this.#unreadable.has(id);
  }

  /** Null: there are none that can be used. */
  async current(id: string): Promise<UsableTokens<Tokens> | null> {
    const unsaved = this.#unsaved.get(id);
    if (unsaved) return unsaved;
    const login = await this.read(id);
    return login?.tokens ? { tokens: login.tokens, version: login.version } : null;
  }

  /** While the database does not answer: what was read last. */
  async read(id: string): Promise<Read | null> {
    const known = this.#known.get(id);
    if (known && performance.now() - known.at < freshMs) return known;
    try {
      const login = await this.#options.rows.find(id);
      if (login) setRecent(this.#known, id, { ...login, at: performance.now() }, maximumKnown);
      else this.#known.delete(id);
      return login;
    } catch (error) {
      if (known) return known;
      throw error;
    }
  }

  /** Resolves when there are later tokens than those of this version. Throws `RefreshFailed`; calls share the request. */
  async refresh(id: string, version: string): Promise<void> {
    const running = this.#refreshing.get(id);
    if (running) return running;
    const refreshing = this.#refresh(id, version).finally(() => this.#refreshing.delete(id));
    this.#refreshing.set(id, refreshing);
    return refreshing;
  }

  /** Fresh tokens of this version are refused. */
  async refuse(id: string, version: string, reason: string): Promise<void> {
    await this.#unsaved.get(id)?.saved.catch(() => {});
    await this.#options.rows.refuse(id, version, reason);
    this.forget(id);
  }

  async #refresh(id: string, version: string): Promise<void> {
    const { rows, refresh, failed } = this.#options;
    const before = await this.#claim(id, version);
    if (before === null) return;
    if (before === "unreadable") return void this.#unreadable.add(id);
    let refreshed: Refreshed;
    try {
      refreshed = await refresh(before);
    } catch (error) {
      if (error instanceof LoginRefused) {
        await rows.refuse(id, version, error.message);
        return this.forget(id);
      }
      await rows.refreshLater(id, version);
      throw new RefreshFailed("its login could not be refreshed", { cause: error });
    }
    const saved = this.#save(id, version, refreshed);
    this.#unsaved.set(id, { tokens: refreshed.tokens, version: String(BigInt(version) + 1n), saved });
    saved.catch(failed);
  }

  /** Until they are stored. The old tokens are of no use any more. */
  async #save(id: string, version: string, refreshed: Refreshed): Promise<void> {
    for (const backoff = new Backoff(...storeMs); ; await pause(backoff.next())) {
      try {
        await this.#options.rows.refreshed(id, version, refreshed);
        break;
      } catch (error) {
        if (!isTransient(error) || this.#stopped.signal.aborted) throw error;
      }
    }
    this.forget(id);
    this.#unsaved.delete(id);
  }

  async #savedAll(): Promise<void> {
    await Promise.all([...this.#unsaved.values()].map(({ saved }) => saved.catch(() => {})));
  }

  /**
   * The tokens to refresh, once no other server is refreshing them. Null: there are later ones, or none any more. Throws
   * `RefreshFailed`.
   */
  async #claim(id: string, version: string): Promise<Tokens | "unreadable" | null> {
    for (const until = performance.now() + waitMs; performance.now() < until; await pause(waitStepMs)) {
      const claimed = await this.#options.rows.claimRefresh(id, version);
      if (claimed) return claimed;
      this.#known.delete(id);
      const login = await this.read(id);
      if (!login?.tokens || login.version !== version) return null;
    }
    throw new RefreshFailed("its login is being refreshed by another server");
  }
}
