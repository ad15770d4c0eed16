import type { AccountRecord } from "../contract/sign-in.ts";
import type { Caller } from "./caller.ts";

/** Whom a valid token names: the issuer's word for a user, and since when the token is one. */
interface TokenIdentity {
  issuer: string;
  subject: string;
  issuedAt: Date | null;
}

interface PrincipalOptions {
  accounts: {
    /** The account of who signs in as this, made at the first time; null when it is disabled. */
    byIdentity(identity: TokenIdentity): Promise<{ id: string; operator: boolean } | null>;
    isEnabled(accountId: string): Promise<boolean>;
    nameOf(accountId: string): Promise<string>;
  };
  keys: {
    /** Null for an unknown, expired or revoked key, or one of a disabled account. */
    findCaller(hash: Buffer): Promise<Caller | null>;
    isValid(keyId: string): Promise<boolean>;
  };
  /** The hash of a key: null for a malformed one, undefined for what is no key. */
  parseKey: (credential: string) => Buffer | null | undefined;
  /** Null for a token that is not valid. */
  verifyToken: (token: string) => Promise<TokenIdentity | null>;
}

/** Those who make requests: accounts, known by a key or by a token of the identity provider. */
export class Principals {
  readonly #options: PrincipalOptions;

  constructor(options: PrincipalOptions) {
    this.#options = options;
  }

  /** The caller of a key or a token; null for one that is not, or no longer, valid. */
  async find(credential: string): Promise<Caller | null> {
    const hash = this.#options.parseKey(credential);
    if (hash === undefined) return this.#findByToken(credential);
    return hash && this.#options.keys.findCaller(hash);
  }

  /** Whether the caller's key and account still are valid. A token may end meanwhile. */
  async isValid({ accountId, keyId }: Caller): Promise<boolean> {
    const { accounts, keys } = this.#options;
    return keyId === null ? accounts.isEnabled(accountId) : keys.isValid(keyId);
  }

  /** The account as its owner sees it. */
  async account({ accountId: id, credential, operator }: Caller): Promise<AccountRecord> {
    const name = await this.#options.accounts.nameOf(id);
    return { id, name, operator, credential: credential === "token" ? "token" : "full" };
  }

  async #findByToken(token: string): Promise<Caller | null> {
    const identity = await this.#options.verifyToken(token);
    const account = identity && (await this.#options.accounts.byIdentity(identity));
    if (!account) return null;
    return {
      accountId: account.id,
      operator: account.operator,
      credential: "token",
      keyId: null,
      agentIds: null,
      creditLimitMicro: null,
      expiresAt: null,
    };
  }
}
