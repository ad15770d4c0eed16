import { BerthError } from "../contract/errors.ts";
import type { UserRecord } from "../contract/users.ts";

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

/** The users' rows. A link is stored as a hash of its token, and expires. */
export interface UserRows {
  /** Up to `limit` users after the user `after`, oldest first. */
  list(limit: number, after: string | null): Promise<UserState[]>;
  /** Throws `user_not_found`. */
  require(name: string): Promise<UserState>;
  /** Throws `user_exists`. */
  create(name: string, link: LinkState): Promise<UserState>;
  /** Throws `user_not_found`. */
  reset(name: string, link: LinkState): Promise<UserState>;
  /** Throws `user_not_found`, `operator_not_disabled`. */
  setDisabled(name: string, disabled: boolean): Promise<UserState>;
}

/** A one-time link as stored. */
export interface LinkState {
  tokenHash: Buffer;
  expiresAt: Date;
}

/** Longer than an access token is valid, and than another server takes to notice new keys. */
const retirementMs = 15 * 60_000;

interface UserOptions {
  rows: UserRows;
  /** The built-in identity provider; null if an external one manages the users. */
  provider: {
    /** The URL of a sign-in link. */
    linkFor(token: string): string;
    /** Replaces the signing keys. What older ones signed is valid until `retiresAt`. */
    replaceKeys(retiresAt: Date): Promise<void>;
  } | null;
  createLink: () => LinkState & { token: string };
}

/** Local users. Every call throws `users_managed_elsewhere` if an external identity provider manages them. */
export class Users {
  readonly #options: UserOptions;

  constructor(options: UserOptions) {
    this.#options = options;
  }

  /** Up to `limit` users after the user `after`, oldest first. */
  async list(limit: number, after: string | null): Promise<UserState[]> {
    this.#requireLocal();
    return this.#options.rows.list(limit, after);
  }

  /** Adds a user, who sets a password with the returned link. Throws `user_exists`. */
  async create(name: string): Promise<{ user: UserState; link: string }> {
    const { stored, link } = this.#newLink();
    return { user: await this.#options.rows.create(name, stored), link };
  }

  /** Invalidates the user's password and sessions; the link sets a new password. Throws `user_not_found`. */
  async reset(name: string): Promise<{ user: UserState; link: string }> {
    const { stored, link } = this.#newLink();
    return { user: await this.#options.rows.reset(name, stored), link };
  }

  /** Throws `user_not_found`, `operator_not_disabled`. */
  async setDisabled(name: string, disabled: boolean): Promise<UserState> {
    this.#requireLocal();
    return this.#options.rows.setDisabled(name, disabled);
  }

  /** The user's account. Throws `user_not_found`. */
  async accountOf(name: string): Promise<string> {
    this.#requireLocal();
    return (await this.#options.rows.require(name)).accountId;
  }

  /**
   * Replaces the keys that sign tokens and sign-in cookies. Older ones count for as long as the longest token, or, with
   * `now`, no more. Answers until when.
   */
  async replaceSigningKeys({ now }: { now: boolean }): Promise<Date> {
    const retiresAt = new Date(Date.now() + (now ? 0 : retirementMs));
    await this.#requireLocal().replaceKeys(retiresAt);
    return retiresAt;
  }

  #newLink(): { stored: LinkState; link: string } {
    const provider = this.#requireLocal();
    const { token, ...stored } = this.#options.createLink();
    return { stored, link: provider.linkFor(token) };
  }

  #requireLocal(): NonNullable<UserOptions["provider"]> {
    if (this.#options.provider) return this.#options.provider;
    throw new BerthError("users_managed_elsewhere", "Users are managed by the configured identity provider.");
  }
}
