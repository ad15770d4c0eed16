import type { Logger } from "pino";
import type { Config } from "./config/config.ts";
import { BerthError } from "./contract/errors.ts";
import type { CreateKey } from "./contract/keys.ts";
import {
  type AccountRecord,
  dashboardClient,
  type ProtectedResource,
  signInPrefix,
  toolClient,
} from "./contract/sign-in.ts";
import type { AccountService } from "./http/account.ts";
import type { KeyService } from "./http/keys.ts";
import { clientOf } from "./http/rate-limits.ts";
import type { HandleSignIn } from "./http/sign-in.ts";
import type { UserService } from "./http/users.ts";
import { createKey, hashKey, isOfKeys, isWellFormed } from "./identity/keys.ts";
import { createLink } from "./identity/links.ts";
import { createCookieKey, createTokenKey, LocalProvider, localAudience } from "./identity/provider.ts";
import type { Sealer } from "./identity/sealing.ts";
import type { SignInAction } from "./identity/sign-in.ts";
import { type Identity, IssuerTokens } from "./identity/tokens.ts";
import type { Caller } from "./service/caller.ts";
import { fromCredits } from "./service/credits.ts";
import type { Attempt } from "./service/idempotency.ts";
import { type KeyState, newKey } from "./service/keys.ts";
import type { UserState } from "./service/users.ts";
import type { Accounts } from "./store/accounts.ts";
import type { Agents } from "./store/agents.ts";
import { AuditLog } from "./store/audit.ts";
import type { Database } from "./store/database.ts";
import { Keys } from "./store/keys.ts";
import { providerKeys } from "./store/provider-keys.ts";
import { ProviderRecords } from "./store/provider-records.ts";
import { SignInAttempts } from "./store/sign-in-attempts.ts";
import { localIssuer, Users } from "./store/users.ts";

/**
 * Those who ask: their keys, the tokens of the identity provider that is configured or of the service's own, and the
 * users of that one. The part of the server's wiring that has to do with them.
 */
export class Identities implements AccountService, KeyService, UserService {
  readonly #accounts: Accounts;
  readonly #agents: Agents;
  readonly #keys: Keys;
  readonly #users: Users;
  readonly #oidc: Config["oidc"];
  readonly #external: IssuerTokens | null;
  /** Opens the service's own provider; null where another is configured. */
  readonly #openLocal: ((publicUrl: string) => LocalProvider) | null;
  /** Not before its address is known. */
  #local: LocalProvider | null = null;
  #publicUrl = "";

  private constructor(
    { oidc }: Config,
    database: Database,
    accounts: Accounts,
    agents: Agents,
    users: Users,
    openLocal: ((publicUrl: string) => LocalProvider) | null,
  ) {
    this.#accounts = accounts;
    this.#agents = agents;
    this.#keys = new Keys(database);
    this.#users = users;
    this.#oidc = oidc;
    this.#external = oidc ? new IssuerTokens(oidc) : null;
    this.#openLocal = openLocal;
  }

  static async open(
    config: Config,
    database: Database,
    accounts: Accounts,
    agents: Agents,
    sealer: Sealer,
    logger: Logger,
  ): Promise<Identities> {
    const users = new Users(database, fromCredits(config.startingCredits));
    const openLocal = config.oidc ? null : await prepareLocalProvider(config, database, users, sealer, logger);
    return new Identities(config, database, accounts, agents, users, openLocal);
  }

  /** Tells where clients reach the service. Answers the one-time link for the first user, where one is still to come. */
  async reachedAt(publicUrl: string): Promise<string | null> {
    this.#publicUrl = publicUrl;
    this.#local = this.#openLocal?.(publicUrl) ?? null;
    if (!this.#local) return null;
    // Links of earlier starts end.
    const { token, ...stored } = createLink();
    return (await this.#users.offerFirst(stored)) ? this.#local.linkFor(token) : null;
  }

  /** The caller of a key or a token; null for one that is not, or no longer, valid. */
  async findCaller(credential: string): Promise<Caller | null> {
    if (!isOfKeys(credential)) return this.#findTokenCaller(credential);
    return isWellFormed(credential) ? this.#keys.findCaller(hashKey(credential)) : null;
  }

  /** Whether the caller's key and account still are what they were; a token may end meanwhile. */
  async isValid({ accountId, keyId }: Caller): Promise<boolean> {
    return keyId === null ? this.#accounts.isEnabled(accountId) : this.#keys.isValid(keyId);
  }

  async #findTokenCaller(token: string): Promise<Caller | null> {
    const identity = await this.#identify(token);
    const account = identity ? await this.#accounts.byIdentity(identity) : null;
    if (!account) return null;
    const { id: accountId, operator } = account;
    return {
      accountId,
      operator,
      credential: "token",
      keyId: null,
      agentIds: null,
      creditLimitMicro: null,
      expiresAt: null,
    };
  }

  async #identify(token: string): Promise<Identity | null> {
    if (this.#external) return this.#external.verify(token);
    const verified = await this.#local?.verify(token);
    return verified ? { issuer: localIssuer, ...verified } : null;
  }

  /** Where tokens come from. */
  protectedResource(): ProtectedResource {
    const external = this.#oidc;
    return {
      resource: this.#publicUrl,
      resource_name: "Berth",
      bearer_methods_supported: ["header"],
      authorization_servers: [external?.issuer ?? this.#publicUrl + signInPrefix],
      scopes_supported: ["openid", "offline_access"],
      berth_audience: external?.audience ?? localAudience,
      berth_tool_client_id: external?.clientId ?? toolClient,
      berth_dashboard_client_id: external?.clientId ?? dashboardClient,
    };
  }

  /** Answers for the service's own provider; null where another is configured. */
  get signIn(): HandleSignIn | null {
    if (!this.#openLocal) return null;
    return (request, response, address) => {
      // A request may come between the first moment of listening and the one in which the address is known.
      if (this.#local) this.#local.handle(request, response, address);
      else response.writeHead(503, { "retry-after": "1" }).end();
    };
  }

  async account({ accountId: id, credential, operator }: Caller): Promise<AccountRecord> {
    return {
      id,
      name: await this.#accounts.nameOf(id),
      operator,
      credential: credential === "token" ? "token" : "full",
    };
  }

  async listKeys(accountId: string, limit: number, after: string | null): Promise<KeyState[]> {
    return this.#keys.list(accountId, limit, after);
  }

  async createKey(
    caller: Caller,
    asked: CreateKey,
    { resourceId: id, earlier }: Attempt,
  ): Promise<{ stored: KeyState; key: string }> {
    const { key, ...secret } = createKey(asked.kind);
    const made = earlier === "none" ? null : await this.#keys.replaceSecret(caller.accountId, id, secret);
    if (made) return { stored: made, key };
    const named = await this.#agents.byNames(caller.accountId, asked.agents ?? []);
    const stored = { id, ...newKey(caller, asked, named, new Date()), ...secret };
    await this.#keys.insert(stored);
    return { stored, key };
  }

  async revokeKey(accountId: string, id: string): Promise<boolean> {
    return this.#keys.revoke(accountId, id);
  }

  async listUsers(limit: number, after: string | null): Promise<UserState[]> {
    this.#requireLocal();
    return this.#users.list(limit, after);
  }

  async createUser(name: string): Promise<{ user: UserState; link: string }> {
    const { token, ...stored } = createLink();
    const link = this.#requireLocal().linkFor(token);
    return { user: await this.#users.create(name, stored), link };
  }

  async resetUser(name: string): Promise<{ user: UserState; link: string }> {
    const { token, ...stored } = createLink();
    const link = this.#requireLocal().linkFor(token);
    return { user: await this.#users.reset(name, stored), link };
  }

  async setUserDisabled(name: string, disabled: boolean): Promise<UserState> {
    this.#requireLocal();
    return this.#users.setDisabled(name, disabled);
  }

  /** Throws `user_not_found`, `users_managed_elsewhere`. */
  async accountOfUser(name: string): Promise<string> {
    this.#requireLocal();
    return (await this.#users.require(name)).accountId;
  }

  #requireLocal(): LocalProvider {
    if (this.#local) return this.#local;
    throw new BerthError("users_managed_elsewhere", "The users are those of the identity provider that is configured.");
  }
}

/** The service's own identity provider, but for its address. */
async function prepareLocalProvider(
  { signInAttempts }: Config,
  database: Database,
  users: Users,
  sealer: Sealer,
  logger: Logger,
): Promise<(publicUrl: string) => LocalProvider> {
  const tokenKeys = await providerKeys(database, sealer, "tokens", createTokenKey);
  const cookieKeys = await providerKeys(database, sealer, "cookies", async () => ({ key: createCookieKey() }));
  const log = (message: string, error: unknown) => logger.warn({ err: error }, message);
  const auditLog = new AuditLog(database);
  const record = async ({ userId, ...action }: SignInAction) => {
    try {
      const { accountId } = (await users.byId(userId))!;
      const nothing = { credential: null, keyId: null, agent: null, agentId: null };
      const code = action.status === 401 ? "credentials_invalid" : null;
      await auditLog.write({ ...nothing, ...action, accountId, code });
    } catch (error) {
      log("an audit entry could not be written", error);
    }
  };
  return (publicUrl) =>
    new LocalProvider({
      publicUrl,
      tokenKeys,
      cookieKeys: cookieKeys.map(({ key }) => key),
      log,
      records: new ProviderRecords(database),
      users,
      record,
      attempts: new SignInAttempts(database, signInAttempts, clientOf),
    });
}
