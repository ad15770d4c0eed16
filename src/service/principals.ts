import type { AccountRecord } from "../contract/sign-in.ts";
import type { Caller } from "./caller.ts";

/** The user that a valid token names, by the issuer's id, and when the token was issued. */
interface TokenIdentity {
  issuer: string;
  subject: string;
  issuedAt: Date | null;
}

interface PrincipalOptions {
  accounts: {
    /** The account for an identity, created on first sign-in; null if it is disabled. */
    byIdentity(identity: TokenIdentity): Promise<{ id: string; operator: boolean } | null>;
    isEnabled(accountId: string): Promise<boolean>;
    nameOf(accountId: string): Promise<string>;
  };
  keys: {
    /** Null for an unknown, expired or revoked key, or one of a disabled account. */
    findCaller(hash: Buffer): Promise<Caller | null>;
    isValid(keyId: string): Promise<boolean>;
  };
  /** The hash of a key: null if it is malformed, undefined if it is not a key. */
  parseKey: (credential: string) => Buffer | null | undefined;
  /** Null for an invalid token, or one for another part of the service. */
  verifyToken: (token: string, audience: "api" | "mcp") => Promise<TokenIdentity | null>;
}

/** Authenticates requests by API key or by a token of the identity provider. */
export class Principals {
  readonly #options: PrincipalOptions;

  constructor(options: PrincipalOptions) {
    this.#options = options;
  }

  /** The caller with a key or token for this part of the service; null if it is not, or no longer, valid. */
  async find(credential: string, audience: "api" | "mcp" = "api"): Promise<Caller | null> {
    const hash = this.#options.parseKey(credential);
    if (hash === undefined) return this.#findByToken(credential, audience);
    return hash && this.#options.keys.findCaller(hash);
  }

  /** Whether the caller's key and account are still valid. A token's expiry is not checked again. */
  async isValid({ accountId, keyId }: Pick<Caller, "accountId" | "keyId">): Promise<boolean> {
    const { accounts, keys } = this.#options;
    return keyId === null ? accounts.isEnabled(accountId) : keys.isValid(keyId);
  }

  /** The account as its owner sees it. */
  async account({ accountId: id, credential, operator }: Caller): Promise<AccountRecord> {
    const name = await this.#options.accounts.nameOf(id);
    return { id, name, operator, credential: credential === "token" ? "token" : "full" };
  }

  async #findByToken(token: string, audience: "api" | "mcp"): Promise<Caller | null> {
    const identity = await this.#options.verifyToken(token, audience);
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
