import type { AppContext } from "../context.ts";
import { LookLoop } from "../core/look-loop.ts";
import { setRecent } from "../core/recent.ts";
import { Backoff, isTransient, pause } from "../core/retry.ts";
import { LoginFailed, Unreachable } from "../models/provider.ts";
import { ChatGptLogin, type Device, LoginRefused, type NewTokens, type Tokens } from "./chatgpt.ts";
import type { DueDevice, StoredLogin } from "./login-store.ts";
import type { ProviderState } from "./provider.ts";

const lookEveryMs = 2_000;
/** How long what was read of a login is used. Another server may have changed it. */
const freshMs = 2_000;
const maximumKnown = 1_000;
/** Tokens are refreshed before a call that begins so shortly before they expire. */
const earlyMs = 30_000;
/** How long a call waits for the refresh of another server. */
const waitMs = 15_000;
const waitStepMs = 200;
/** Between two tries to store tokens that were refreshed: no other server may refresh the old ones. */
const storeMs = [200, 1_000] as const;
/** A question that the vendor did not answer is repeated after this many seconds. */
const againSeconds = 5;

type Known = StoredLogin & { at: number };

/** Tokens for a call, and their version. */
export interface UsableTokens {
  tokens: Tokens;
  version: string;
}

/**
 * The logins of subscriptions: finishes those that people have begun, keeps their tokens fresh, and gives them to calls.
 * Several servers share them. A refresh token is valid once, so one server claims the refresh and the others wait for it.
 */
export class ProviderLogins {
  readonly #context: AppContext;
  readonly #vendor: ChatGptLogin;
  readonly #loop: LookLoop;
  readonly #known = new Map<string, Known>();
  /** By provider. */
  readonly #refreshing = new Map<string, Promise<void>>();
  /** Tokens that were refreshed and are not stored yet. */
  readonly #unsaved = new Map<string, UsableTokens & { saved: Promise<void> }>();
  /** Providers whose tokens were encrypted with another secret key. */
  readonly #unreadable = new Set<string>();
  readonly #working = new Set<Promise<void>>();

  constructor(context: AppContext) {
    this.#context = context;
    this.#vendor = new ChatGptLogin(context.config.subscriptions.chatGptLogin);
    this.#loop = new LookLoop(
      lookEveryMs,
      () => this.#look(),
      (error) => context.log("the logins of subscriptions could not be read; it is tried again", { error }),
    );
  }

  begin(): void {
    this.#loop.begin();
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
    await Promise.all([...this.#working, ...this.#refreshing.values()].map((work) => work.catch(() => {})));
  }

  async close(): Promise<void> {
    await this.#vendor.close();
  }

  /** Asks the vendor for a code. Throws `LoginRefused`, or another error if it does not answer. */
  device(): Promise<Device> {
    return this.#vendor.begin();
  }

  /** A login was changed: the next call and the next list read it. */
  forget(providerId: string): void {
    this.#known.delete(providerId);
    this.#context.providers.forget();
  }

  /** The tokens for a call. Throws `LoginFailed`, and `Unreachable` if they had to be refreshed and the vendor is away. */
  async usable({ id, name }: Pick<ProviderState, "id" | "name">): Promise<UsableTokens> {
    const current = await this.#usable(id!, name);
    if (Date.now() < current.tokens.expiresAt - earlyMs) return current;
    await this.refresh(id!, current.version);
    return this.#usable(id!, name);
  }

  /** Throws `LoginFailed` if the vendor has refused the provider's credential. */
  async requireAccepted({ id, name }: Pick<ProviderState, "id" | "name">): Promise<void> {
    const login = await this.#read(id!);
    if (login?.status === "failed") throw new LoginFailed(failure(name, login.reason));
  }

  /** Resolves when there are later tokens than those of this version. Throws `Unreachable`; calls share the request. */
  async refresh(providerId: string, version: string): Promise<void> {
    const running = this.#refreshing.get(providerId);
    if (running) return running;
    const refreshing = this.#refresh(providerId, version).finally(() => this.#refreshing.delete(providerId));
    this.#refreshing.set(providerId, refreshing);
    return refreshing;
  }

  /** The vendor refuses fresh tokens. Returns the error for the call. */
  async refuse(
    { id, name }: Pick<ProviderState, "id" | "name">,
    version: string,
    reason: string,
  ): Promise<LoginFailed> {
    await this.#unsaved.get(id!)?.saved.catch(() => {});
    await this.#context.stores.logins.refuse(id!, version, reason);
    this.forget(id!);
    return new LoginFailed(failure(name, reason));
  }

  /** The vendor refuses a provider's own credential. Returns the error for the call. */
  async refuseCredential({ id, name, updatedAt }: ProviderState, reason: string): Promise<LoginFailed> {
    await this.#context.stores.logins.refuseCredential(id!, updatedAt!, reason);
    this.forget(id!);
    return new LoginFailed(failure(name, reason));
  }

  async #look(): Promise<void> {
    const { logins } = this.#context.stores;
    for (const due of await logins.takeDevices()) this.#work(this.#finish(due));
    for (const { providerId, version } of await logins.dueRefreshes()) {
      if (!this.#refreshing.has(providerId) && !this.#unreadable.has(providerId))
        this.#work(this.refresh(providerId, version));
    }
  }

  #work(work: Promise<void>): void {
    const logged = work
      .catch((error: unknown) =>
        this.#context.log("a login of a subscription was not finished or refreshed", { error }),
      )
      .finally(() => this.#working.delete(logged));
    this.#working.add(logged);
  }

  /** Asks whether a person has finished a login. */
  async #finish(due: DueDevice): Promise<void> {
    const { logins } = this.#context.stores;
    const { providerId, device, isExpired } = due;
    if (!device) return logins.give(due, "The login was encrypted with another secret key.");
    try {
      const tokens = await this.#vendor.finish(device);
      if (tokens) await logins.finish(due, tokens);
      else if (isExpired) await logins.give(due, "The code has expired.");
      else await logins.pollAgain(due, device.intervalSeconds);
    } catch (error) {
      if (error instanceof LoginRefused) await logins.give(due, error.message);
      else if (isExpired) await logins.give(due, "The code has expired; OpenAI did not answer.");
      else await logins.pollAgain(due, Math.max(device.intervalSeconds, againSeconds));
      if (!(error instanceof LoginRefused)) throw error;
    } finally {
      this.forget(providerId);
    }
  }

  async #usable(id: string, name: string): Promise<UsableTokens> {
    const unsaved = this.#unsaved.get(id);
    if (unsaved) return unsaved;
    const login = await this.#read(id);
    if (login?.tokens) return { tokens: login.tokens, version: login.version };
    if (login?.status === "pending") {
      throw new LoginFailed(
        `The login of the provider ${name} is not finished. GET /providers has its address and code.`,
      );
    }
    const reason =
      login?.status === "connected" ? "It was encrypted with another secret key." : (login?.reason ?? null);
    throw new LoginFailed(failure(name, reason));
  }

  /** While the database does not answer: what was read last. */
  async #read(id: string): Promise<StoredLogin | null> {
    const known = this.#known.get(id);
    if (known && performance.now() - known.at < freshMs) return known;
    try {
      const login = await this.#context.stores.logins.find(id);
      if (login) setRecent(this.#known, id, { ...login, at: performance.now() }, maximumKnown);
      else this.#known.delete(id);
      return login;
    } catch (error) {
      if (known) return known;
      throw error;
    }
  }

  async #refresh(id: string, version: string): Promise<void> {
    const { logins } = this.#context.stores;
    const before = await this.#claim(id, version);
    if (before === null) return;
    if (before === "unreadable") return void this.#unreadable.add(id);
    let refreshed: NewTokens;
    try {
      refreshed = await this.#vendor.refresh(before);
    } catch (error) {
      if (error instanceof LoginRefused) {
        await logins.refuse(id, version, error.message);
        return this.forget(id);
      }
      await logins.refreshLater(id, version);
      throw new Unreachable("its login could not be refreshed", { cause: error });
    }
    const saved = this.#save(id, version, refreshed);
    this.#unsaved.set(id, { tokens: refreshed.tokens, version: String(BigInt(version) + 1n), saved });
    this.#work(saved);
  }

  /** Until they are stored. The old tokens are of no use any more. */
  async #save(id: string, version: string, refreshed: NewTokens): Promise<void> {
    for (const backoff = new Backoff(...storeMs); ; await pause(backoff.next())) {
      try {
        await this.#context.stores.logins.refreshed(id, version, refreshed);
        break;
      } catch (error) {
        if (!isTransient(error) || this.#loop.stopped.aborted) throw error;
      }
    }
    this.forget(id);
    this.#unsaved.delete(id);
  }

  /**
   * The tokens to refresh, once no other server is refreshing them. Null: there are later ones, or none any more. Throws
   * `Unreachable`.
   */
  async #claim(id: string, version: string): Promise<Tokens | "unreadable" | null> {
    const { logins } = this.#context.stores;
    for (const until = performance.now() + waitMs; performance.now() < until; await pause(waitStepMs)) {
      const claimed = await logins.claimRefresh(id, version);
      if (claimed) return claimed;
      this.#known.delete(id);
      const login = await this.#read(id);
      if (!login?.tokens || login.version !== version) return null;
    }
    throw new Unreachable("its login is being refreshed by another server");
  }
}

function failure(name: string, reason: string | null): string {
  return `The login of the provider ${name} has failed. ${reason ?? ""} Connect it again: berth providers login ${name}, or the dashboard's page Providers.`;
}
