import type { AccountRecord } from "../contract/sign-in.ts";
import type { Caller } from "../core/http/caller.ts";

/** The user that a valid token names, by the issuer's id, and when the token was issued. */
interface TokenIdentity {
  issuer: string;
  subject: string;
  issuedAt: Date | null;
  clientId: string | null;
  /** Null for a token whose sign-in is renewed. */
  expiresAt: Date | null;
}

interface PrincipalOptions {
  accounts: {
    /** The account for an identity, created on first sign-in; null if it is disabled. */
    byIdentity(identity: TokenIdentity): Promise<{ id: string; operator: boolean } | null>;
    /** Whether the account is enabled and takes tokens of this time; null: the token does not say. */
    takesTokens(accountId: string, issuedAt: Date | null): Promise<boolean>;
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
  /** Whether the user has not ended the program that the token was issued to. */
  isGranted: (subject: string, clientId: string | null) => Promise<boolean>;
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

  /**
   * Whether what the caller has opened may stay open: its key and its account are valid, and its token has not been ended
   * by a new password, by its expiry, or by the end of its program.
   */
  async isValid({ accountId, keyId, token }: Pick<Caller, "accountId" | "keyId" | "token">): Promise<boolean> {
    const { accounts, keys, isGranted } = this.#options;
    if (keyId !== null) return keys.isValid(keyId);
    if (token === null) return accounts.isEnabled(accountId);
    const { subject, clientId, issuedAt, expiresAt } = token;
    if (expiresAt !== null && Date.parse(expiresAt) <= Date.now()) return false;
    if (!(await accounts.takesTokens(accountId, issuedAt === null ? null : new Date(issuedAt)))) return false;
    return isGranted(subject, clientId);
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
    const { subject, clientId, issuedAt, expiresAt } = identity;
    return {
      accountId: account.id,
      operator: account.operator,
      credential: "token",
      keyId: null,
      agentIds: null,
      creditLimitMicro: null,
      expiresAt: null,
      token: {
        subject,
        clientId,
        issuedAt: issuedAt?.toISOString() ?? null,
        expiresAt: expiresAt?.toISOString() ?? null,
      },
    };
  }
}
