import type { AppContext } from "../context.ts";
import type { AccountRecord } from "../contract/sign-in.ts";
import type { Caller } from "../core/http/caller.ts";
import { IssuerTokens } from "../sign-in/tokens.ts";
import { parseKey } from "./key-format.ts";

/** Authenticates requests by API key or by a token of the identity provider. */
export class Principals {
  readonly #context: AppContext;
  /** Null: the built-in provider issues the tokens. */
  readonly #external: IssuerTokens | null;

  constructor(context: AppContext) {
    this.#context = context;
    this.#external = context.config.oidc && new IssuerTokens(context.config.oidc);
  }

  /** The caller with a key or token for this part of the service; null if it is not, or no longer, valid. */
  async find(credential: string, audience: "api" | "mcp" = "api"): Promise<Caller | null> {
    const hash = parseKey(credential);
    if (hash === undefined) return this.#findByToken(credential, audience);
    return hash && this.#context.stores.keys.findCaller(hash);
  }

  /**
   * Whether the caller's open connections may stay open: its key and its account are valid, and its token has not been
   * revoked by a new password, by its expiry, or by its program's sign-out.
   */
  async isValid({ accountId, keyId, token }: Pick<Caller, "accountId" | "keyId" | "token">): Promise<boolean> {
    const { stores, signIn } = this.#context;
    if (keyId !== null) return stores.keys.isValid(keyId);
    if (token === null) return stores.accounts.isEnabled(accountId);
    const { subject, clientId, issuedAt, expiresAt } = token;
    if (expiresAt !== null && Date.parse(expiresAt) <= Date.now()) return false;
    if (!(await stores.accounts.takesTokens(accountId, issuedAt === null ? null : new Date(issuedAt)))) return false;
    return signIn === null || signIn.isGranted(subject, clientId);
  }

  /** The account as its owner sees it. */
  async account({ accountId: id, credential, operator }: Caller): Promise<AccountRecord> {
    const name = await this.#context.stores.accounts.nameOf(id);
    return { id, name, operator, credential: credential === "token" ? "token" : "full" };
  }

  async #findByToken(token: string, audience: "api" | "mcp"): Promise<Caller | null> {
    const identity = await (this.#external?.verify(token) ?? this.#context.signIn!.verify(token, audience));
    const account = identity && (await this.#context.stores.accounts.byIdentity(identity));
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
