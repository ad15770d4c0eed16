import { createHash, randomBytes, randomInt } from "node:crypto";
import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";
import { type ConnectMcpServer, type McpClient, mcpCallbackPath, mcpClientPath } from "../contract/secret-logins.ts";
import { Budget } from "../core/budget.ts";
import { FreshTokens, LoginRefused, RefreshFailed } from "../core/fresh-tokens.ts";
import type { Caller } from "../core/http/caller.ts";
import { setRecent } from "../core/recent.ts";
import { isInsideName } from "../egress/policy.ts";
import { type Secret, SecretUnavailable } from "../egress/secrets.ts";
import { GuardedFetch } from "../outbound/fetch.ts";
import { openOutbound } from "../outbound/open.ts";
import { type BegunLogin, noRefresh, type ReturnedAttempt, type StoredSecretLogin, unreadable } from "./login-store.ts";
import { type Attempt, type LoginTokens, McpOAuth, type NewLoginTokens, reasonOf } from "./mcp-oauth.ts";

/** Without letters and digits that look alike. */
const codeLetters = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const codeLength = 8;
const stateBytes = 32;
/** How often a token that is refused is refreshed at most: a server may refuse for another reason. */
const refusedMs = 60_000;
/** How long a token that is valid is used without another try to refresh it, after one has failed. */
const failedMs = 5_000;
const maximumRemembered = 1_000;
/** The limits of sign-ins that are being prepared: each makes several requests. */
const preparing = { total: 32, perHolder: 4 };

/** The end of a sign-in in a browser: `code` is what the person who began it is to enter. */
export type Outcome = { ended: "connected" | "unknown" } | { ended: "failed"; reason: string } | { code: string };

/**
 * Sign-ins to MCP servers, whose tokens are secrets of workspaces: begins and finishes them, and gives fresh tokens to the
 * requests that agents make.
 */
export class SecretLogins {
  readonly #context: AppContext;
  readonly #oauth: McpOAuth;
  readonly #outbound;
  readonly #fresh: FreshTokens<LoginTokens, StoredSecretLogin, NewLoginTokens>;
  /** When a token of a login was last refused, on the clock of `performance.now`. */
  readonly #refusedAt = new Map<string, number>();
  /** When a refresh of a login last failed. */
  readonly #failedAt = new Map<string, number>();
  readonly #preparing = new Budget(preparing);
  readonly #revoking = new Set<Promise<void>>();

  constructor(context: AppContext) {
    this.#context = context;
    // Agents reach these hosts, too.
    this.#outbound = openOutbound(context, context.config.egressInside);
    this.#oauth = new McpOAuth(this.#outbound, new GuardedFetch(this.#outbound));
    this.#fresh = new FreshTokens<LoginTokens, StoredSecretLogin, NewLoginTokens>({
      rows: context.stores.secretLogins,
      refresh: (before) => this.#oauth.refresh(before),
      changed: () => {},
      failed: (error) => context.log("a token that was refreshed could not be stored", { error }),
    });
  }

  async stop(): Promise<void> {
    await Promise.all([this.#fresh.stop(), ...this.#revoking]);
  }

  async close(): Promise<void> {
    this.#outbound.close();
    await this.#oauth.close();
  }

  /** How this server introduces itself to authorization servers. */
  get self(): McpClient {
    const url = this.#context.address.public;
    const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(new URL(url).hostname);
    return {
      client_id: url + mcpClientPath,
      client_name: "Berth",
      redirect_uris: [url + mcpCallbackPath],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      application_type: isLocal ? "native" : "web",
    };
  }

  /**
   * Prepares a sign-in to the MCP server, or to the one of before. Throws `request_invalid` for another address than before,
   * and `mcp_sign_in_failed`.
   */
  async begin(
    accountId: string,
    name: string,
    { url: asked, clientId, clientSecret, scopes }: Omit<ConnectMcpServer, "agents">,
  ): Promise<BegunLogin & { authorizationUrl: string; state: string }> {
    const known = await this.#context.stores.secretLogins.settings(accountId, name);
    const url = asked ?? known?.url;
    if (url === undefined) throw new BerthError("request_invalid", "url is required: the MCP server's address.");
    if (known && known.url !== url) {
      // Another address could be a host to which the token of before must not go.
      const message = `${name} is a sign-in to ${known.url}. For another address, choose another name or delete it first.`;
      throw new BerthError("request_invalid", message);
    }
    await this.#outbound.requireAllowed(url, "url");
    using entered = this.#preparing.take(accountId, 1);
    if (!entered) throw new BerthError("too_many_requests", "Too many sign-ins are being prepared. Try again soon.");
    const own = clientId === undefined ? null : { client_id: clientId, client_secret: clientSecret };
    const client = own ?? known?.client ?? null;
    const state = randomBytes(stateBytes).toString("base64url");
    try {
      const begun = await this.#oauth.begin({
        ...{ url, client, state, self: this.self, hasDocument: this.#hasDocument },
        scopes: scopes ?? null,
      });
      return { ...begun, url, client, state, stateHash: hashOf(state) };
    } catch (error) {
      throw failed(error);
    }
  }

  /**
   * A browser has come back from the authorization server. `isOwn`: whether it is the one that began the sign-in with this
   * state. Never throws for what the query has.
   */
  async returned(query: URLSearchParams, isOwn: (state: string) => boolean): Promise<Outcome> {
    const [state, code, iss, error] = ["state", "code", "iss", "error"].map((name) => query.getAll(name));
    if (state?.length !== 1 || !/^[\w-]{43}$/.test(state[0]!)) return { ended: "unknown" };
    const { secretLogins } = this.#context.stores;
    const found = await secretLogins.takeReturned(hashOf(state[0]!));
    if (!found) return { ended: "unknown" };
    const { attempt } = found;
    const fail = async (reason: string): Promise<Outcome> => {
      await secretLogins.fail(found, reason);
      return { ended: "failed", reason };
    };
    if (!attempt) return fail(unreadable);
    try {
      if ([code, iss, error].some((values) => values!.length > 1)) throw new LoginRefused(invalidAnswer);
      this.#oauth.requireIssuer(attempt, iss![0] ?? null);
    } catch (refused) {
      return fail((refused as Error).message);
    }
    if (error!.length > 0) return fail(refusalOf(error![0]!));
    const given = code![0] ?? "";
    if (!/^[\x20-\x7e]{1,4000}$/.test(given)) return fail(invalidAnswer);
    if (!isOwn(state[0]!)) return { code: await this.#hold(found, attempt, given) };
    try {
      await this.#finish(found, { ...attempt, code: given });
      return { ended: "connected" };
    } catch (refused) {
      return { ended: "failed", reason: messageOf(refused) };
    }
  }

  /** The person who began a sign-in has entered the code of another browser. Throws the errors of `Vault.confirm`. */
  async confirm(caller: Caller, name: string, code: string): Promise<void> {
    const entered = hashOf(code.toUpperCase().replaceAll(/[^A-Z0-9]/g, ""));
    const found = await this.#context.stores.secretLogins.takeConfirmed(caller, name, entered);
    if (found === "other") {
      throw new BerthError("forbidden", "Only the person or the key that began this sign-in can confirm it.");
    }
    if (found === null || typeof found === "string" || !found.attempt) {
      throw new BerthError("request_invalid", refusals[found === null || typeof found === "object" ? "none" : found]);
    }
    try {
      await this.#finish(found, found.attempt);
    } catch (error) {
      throw failed(error);
    }
  }

  /** The token of a login, as a secret whose value changes. */
  secretOf(login: { id: string; name: string }): Pick<Secret, "current" | "refused"> {
    return {
      current: (isNeeded) => this.#token(login, isNeeded),
      refused: (token) => this.#refused(login, token),
    };
  }

  /**
   * The token of a login now. `isNeeded`: a request is about to send it, so it is refreshed if it is to expire. Otherwise the
   * last one, or an empty text. Throws `SecretUnavailable`.
   */
  async #token({ id, name }: { id: string; name: string }, isNeeded: boolean): Promise<string> {
    const current = await this.#fresh.current(id);
    if (!isNeeded) return current?.tokens.accessToken ?? "";
    if (!current) throw await this.#unavailable(id, name);
    const { accessToken, refreshToken, expiresAt, refreshAt } = current.tokens;
    if (refreshAt === null || Date.now() < refreshAt) return accessToken;
    const isValid = Date.now() < expiresAt!;
    const hasFailed = performance.now() - (this.#failedAt.get(id) ?? -failedMs) < failedMs;
    if (isValid && (refreshToken === null || hasFailed)) return accessToken;
    try {
      if (refreshToken === null) await this.#fresh.refuse(id, current.version, noRefresh);
      else await this.#fresh.refresh(id, current.version);
    } catch (error) {
      if (!(error instanceof RefreshFailed)) throw error;
      setRecent(this.#failedAt, id, performance.now(), maximumRemembered);
      this.#notRefreshed(name, error);
      if (isValid) return accessToken;
      throw new SecretUnavailable(`The token of ${name} has expired, and ${error.message}. Try again.`);
    }
    const later = await this.#fresh.current(id);
    if (!later) throw await this.#unavailable(id, name);
    return later.tokens.accessToken;
  }

  /** The MCP server does not accept a token that has not expired. It may have been revoked, and another one may be accepted. */
  #refused({ id, name }: { id: string; name: string }, token: string): void {
    if (performance.now() - (this.#refusedAt.get(id) ?? -refusedMs) < refusedMs) return;
    setRecent(this.#refusedAt, id, performance.now(), maximumRemembered);
    const refresh = async () => {
      const current = await this.#fresh.current(id);
      if (current?.tokens.accessToken !== token || current.tokens.refreshToken === null) return;
      await this.#fresh.refresh(id, current.version);
    };
    refresh().catch((error: unknown) => this.#notRefreshed(name, error));
  }

  /** Logs nothing that a server sent. */
  #notRefreshed(secret: string, error: unknown): void {
    const isOfServer = error instanceof RefreshFailed && error.cause !== undefined;
    const reason = isOfServer ? messageOf(error.cause) : (error as Error).message;
    this.#context.log("the token of an MCP server was not refreshed", { secret, reason });
  }

  /** Revokes tokens that nothing uses any more, where that is offered. */
  revoke(tokens: LoginTokens): void {
    const revoking = this.#oauth
      .revoke(tokens)
      .catch((error: unknown) =>
        this.#context.log("a token of an MCP server was not revoked", { reason: messageOf(error) }),
      )
      .finally(() => this.#revoking.delete(revoking));
    this.#revoking.add(revoking);
  }

  /** Authorization servers can read the document at a public address only. */
  get #hasDocument(): boolean {
    const { protocol, hostname } = new URL(this.#context.address.public);
    return protocol === "https:" && /\.[a-z]/.test(hostname) && !isInsideName(hostname);
  }

  async #hold(found: ReturnedAttempt, attempt: Attempt, code: string): Promise<string> {
    const letters = Array.from({ length: codeLength }, () => codeLetters[randomInt(codeLetters.length)]).join("");
    await this.#context.stores.secretLogins.hold(found, { ...attempt, code }, hashOf(letters));
    return `${letters.slice(0, 4)}-${letters.slice(4)}`;
  }

  /** Rejects with the error of the exchange, after it has been stored. */
  async #finish(found: ReturnedAttempt, attempt: Attempt): Promise<void> {
    const { secretLogins } = this.#context.stores;
    let given: NewLoginTokens;
    try {
      given = await this.#oauth.finish(attempt, attempt.code!);
    } catch (error) {
      await secretLogins.fail(found, messageOf(error));
      throw error;
    }
    const before = await secretLogins.tokens(found.accountId, found.name);
    if (!(await secretLogins.finish(found, given))) {
      this.revoke(given.tokens);
      throw new LoginRefused("Another sign-in has begun, or the secret was deleted.");
    }
    this.#fresh.forget(found.id);
    // With the same client, revoking the old tokens could end the new ones (RFC 7009, 2.1).
    if (before && before.client.client_id !== given.tokens.client.client_id) this.revoke(before);
  }

  async #unavailable(id: string, name: string): Promise<SecretUnavailable> {
    const login = await this.#fresh.read(id);
    const reason = login?.isUnreadable ? unreadable : (login?.reason ?? "A person has not finished the sign-in.");
    return new SecretUnavailable(
      `The sign-in ${name} cannot be used. ${reason} A person connects it: berth mcp connect ${name}, or the dashboard's page Secrets.`,
    );
  }
}

const invalidAnswer = "The authorization server's answer is not valid.";

const refusals = {
  none: "There is no sign-in to confirm, or it has ended. Begin it again.",
  waiting: "The browser has not come back from the authorization server yet.",
  wrong: "The code is wrong. After five wrong codes, the sign-in ends.",
};

/** Errors of RFC 6749, 4.1.2.1. Other words are not repeated. */
function refusalOf(error: string): string {
  if (error === "access_denied") return "The person, or the authorization server, refused the access.";
  const isKnown = /^(invalid_(request|scope|target)|unauthorized_client|server_error|temporarily_unavailable)$/.test(
    error,
  );
  return `The authorization server did not allow the sign-in${isKnown ? ` (${error})` : ""}.`;
}

function messageOf(error: unknown): string {
  return error instanceof LoginRefused ? error.message : `The authorization server ${reasonOf(error)}`;
}

function failed(error: unknown): BerthError {
  return new BerthError("mcp_sign_in_failed", messageOf(error));
}

function hashOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
