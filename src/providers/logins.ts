import type { AppContext } from "../context.ts";
import { FreshTokens, LoginRefused, RefreshFailed, type UsableTokens } from "../core/fresh-tokens.ts";
import { LookLoop } from "../core/look-loop.ts";
import { LoginFailed, Unreachable } from "../models/provider.ts";
import { ChatGptLogin, type Device, type NewTokens, type Tokens } from "./chatgpt.ts";
import type { DueDevice, StoredLogin } from "./login-store.ts";
import type { ProviderState } from "./provider.ts";

const lookEveryMs = 2_000;
/** Tokens are refreshed before a call that begins so shortly before they expire. */
const earlyMs = 30_000;
/** A question that the vendor did not answer is repeated after this many seconds. */
const againSeconds = 5;

/** The logins of subscriptions: finishes those that people have begun, keeps their tokens fresh, and gives them to calls. */
export class ProviderLogins {
  readonly #context: AppContext;
  readonly #vendor: ChatGptLogin;
  readonly #loop: LookLoop;
  readonly #fresh: FreshTokens<Tokens, StoredLogin, NewTokens>;
  readonly #working = new Set<Promise<void>>();

  constructor(context: AppContext) {
    this.#context = context;
    this.#vendor = new ChatGptLogin(context.config.subscriptions.chatGptLogin);
    this.#fresh = new FreshTokens({
      rows: context.stores.logins,
      refresh: (before) => this.#vendor.refresh(before),
      changed: () => context.providers.forget(),
      failed: (error) => context.log("a login that was refreshed could not be stored", { error }),
    });
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
    await Promise.all([...this.#working, this.#fresh.stop()]);
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
    this.#fresh.forget(providerId);
  }

  /** The tokens for a call. Throws `LoginFailed`, and `Unreachable` if they had to be refreshed and the vendor is away. */
  async usable({ id, name }: Pick<ProviderState, "id" | "name">): Promise<UsableTokens<Tokens>> {
    const current = await this.#usable(id!, name);
    if (Date.now() < current.tokens.expiresAt - earlyMs) return current;
    await this.refresh(id!, current.version);
    return this.#usable(id!, name);
  }

  /** Throws `LoginFailed` if the vendor has refused the provider's credential. */
  async requireAccepted({ id, name }: Pick<ProviderState, "id" | "name">): Promise<void> {
    const login = await this.#fresh.read(id!);
    if (login?.status === "failed") throw new LoginFailed(failure(name, login.reason));
  }

  /** Resolves when there are later tokens than those of this version. Throws `Unreachable`; calls share the request. */
  async refresh(providerId: string, version: string): Promise<void> {
    try {
      await this.#fresh.refresh(providerId, version);
    } catch (error) {
      if (!(error instanceof RefreshFailed)) throw error;
      throw new Unreachable(error.message, { cause: error.cause });
    }
  }

  /** The vendor refuses fresh tokens. Returns the error for the call. */
  async refuse(
    { id, name }: Pick<ProviderState, "id" | "name">,
    version: string,
    reason: string,
  ): Promise<LoginFailed> {
    await this.#fresh.refuse(id!, version, reason);
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
      if (!this.#fresh.isBusy(providerId)) this.#work(this.refresh(providerId, version));
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

  async #usable(id: string, name: string): Promise<UsableTokens<Tokens>> {
    const current = await this.#fresh.current(id);
    if (current) return current;
    const login = await this.#fresh.read(id);
    if (login?.status === "pending") {
      throw new LoginFailed(
        `The login of the provider ${name} is not finished. GET /providers has its address and code.`,
      );
    }
    const reason =
      login?.status === "connected" ? "It was encrypted with another secret key." : (login?.reason ?? null);
    throw new LoginFailed(failure(name, reason));
  }
}

function failure(name: string, reason: string | null): string {
  return `The login of the provider ${name} has failed. ${reason ?? ""} Connect it again: berth providers login ${name}, or the dashboard's page Providers.`;
}
