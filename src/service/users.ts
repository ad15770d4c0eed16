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

interface UserOptions {
  rows: UserRows;
  /** The URL of a sign-in link; null if an external identity provider manages the users. */
  linkFor: ((token: string) => string) | null;
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

  #newLink(): { stored: LinkState; link: string } {
    const linkFor = this.#requireLocal();
    const { token, ...stored } = this.#options.createLink();
    return { stored, link: linkFor(token) };
  }

  #requireLocal(): (token: string) => string {
    if (this.#options.linkFor) return this.#options.linkFor;
    throw new BerthError("users_managed_elsewhere", "The users are those of the identity provider that is configured.");
  }
}
