import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";
import type { UserRecord } from "../contract/users.ts";
import type { LocalSignIn } from "../sign-in/local-sign-in.ts";
import { createLink, passwordLinkMs } from "./links.ts";
import type { UserStore } from "./user-store.ts";

/** A user of the built-in identity provider. */
export interface UserState {
  id: string;
  accountId: string;
  name: string;
  /** Whether the account is the operator's. */
  operator: boolean;
  /** Null until the user sets one with a link. */
  passwordHash: string | null;
  disabledAt: Date | null;
  createdAt: Date;
}

/** The user as the operator sees it. */
export function toUserView({ name, operator, passwordHash, disabledAt, createdAt }: UserState): UserRecord {
  const status = disabledAt ? "disabled" : passwordHash === null ? "invited" : "active";
  return { name, operator, status, createdAt: createdAt.toISOString() };
}

/** A one-time link as stored. */
export interface LinkState {
  tokenHash: Buffer;
  expiresAt: Date;
}

/** Longer than an access token is valid, and than another server takes to notice new keys. */
const retirementMs = 15 * 60_000;

/** Local users. Every call throws `users_managed_elsewhere` if an external identity provider manages them. */
export class Users {
  readonly #context: AppContext;
  readonly #rows: UserStore;

  constructor(context: AppContext) {
    this.#context = context;
    this.#rows = context.stores.users;
  }

  /** Up to `limit` users after the user `after`, oldest first. */
  async list(limit: number, after: string | null): Promise<UserState[]> {
    this.#requireLocal();
    return this.#rows.list(limit, after);
  }

  /** Adds a user, who sets a password with the returned link. Throws `user_exists`. */
  async create(name: string): Promise<{ user: UserState; link: string }> {
    const { stored, link } = await this.#newLink();
    return { user: await this.#rows.create(name, stored), link };
  }

  /** Invalidates the user's password and sessions; the link sets a new password. Throws `user_not_found`. */
  async reset(name: string): Promise<{ user: UserState; link: string }> {
    const { stored, link } = await this.#newLink();
    return { user: await this.#rows.reset(name, stored), link };
  }

  /** Throws `user_not_found`, `operator_not_disabled`. */
  async setDisabled(name: string, disabled: boolean): Promise<UserState> {
    this.#requireLocal();
    return this.#rows.setDisabled(name, disabled);
  }

  /** The user's account. Throws `user_not_found`. */
  async accountOf(name: string): Promise<string> {
    this.#requireLocal();
    return (await this.#rows.require(name)).accountId;
  }

  /**
   * Replaces the keys that sign tokens and sign-in cookies. Older keys stay valid for the longest lifetime of a token or, with
   * `now`, become invalid immediately. Returns the time until which they are valid.
   */
  async replaceSigningKeys({ now }: { now: boolean }): Promise<Date> {
    const retiresAt = new Date(Date.now() + (now ? 0 : retirementMs));
    await this.#requireLocal().replaceKeys(retiresAt);
    return retiresAt;
  }

  async #newLink(): Promise<{ stored: LinkState; link: string }> {
    const provider = this.#requireLocal();
    const { token, ...stored } = createLink(passwordLinkMs);
    return { stored, link: await provider.linkFor(token) };
  }

  #requireLocal(): LocalSignIn {
    if (this.#context.signIn) return this.#context.signIn;
    throw new BerthError("users_managed_elsewhere", "Users are managed by the configured identity provider.");
  }
}
