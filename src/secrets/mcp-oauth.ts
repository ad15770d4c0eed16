import {
  type AuthorizationServerMetadata,
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  exchangeAuthorization,
  extractWWWAuthenticateParams,
  IssuerMismatchError,
  OAuthError,
  type OAuthTokens,
  refreshAuthorization,
  registerClient,
  resourceUrlFromServerUrl,
  selectClientAuthMethod,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from "@modelcontextprotocol/client";
import type { McpClient } from "../contract/secret-logins.ts";
import { LoginRefused } from "../core/fresh-tokens.ts";
import type { GuardedFetch } from "../outbound/fetch.ts";
import { CallFailed, type Outbound } from "../outbound/outbound.ts";

// The client's part of https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization

/** For all requests of a step together. */
const stepMs = 30_000;
/** Of a token whose lifetime the authorization server does not state, but which it can refresh. */
const usualLifetimeSeconds = 3_600;
const leastLifetimeSeconds = 10;
const mostLifetimeSeconds = 10 * 365 * 86_400;
/** Tokens are refreshed so long before they expire, or in the last quarter of a short lifetime. */
const earlyMs = 30_000;
const maximumToken = 16_384;
const maximumScopes = 1_000;

/** A client at an authorization server. */
export interface OAuthClient {
  client_id: string;
  client_secret?: string | undefined;
  token_endpoint_auth_method?: string;
}

/** The part of an authorization server's description that is used. */
interface Server {
  issuer: string;
  authorization_endpoint: string;
  token_endpoint: string;
  response_types_supported: string[];
  revocation_endpoint?: string | undefined;
  token_endpoint_auth_methods_supported?: string[] | undefined;
  authorization_response_iss_parameter_supported?: boolean | undefined;
}

interface Grant {
  server: Server;
  client: OAuthClient;
  /** The resource indicator (RFC 8707). */
  resource: string;
}

/** A sign-in that a person is to finish. */
export interface Attempt extends Grant {
  verifier: string;
  redirectUri: string;
  /** The code that the browser came back with, while a person is to confirm it. */
  code?: string;
}

/** Tokens, with what refreshing and revoking them needs. Times are in milliseconds of this host's clock; null: unknown. */
export interface LoginTokens extends Grant {
  accessToken: string;
  refreshToken: string | null;
  expiresAt: number | null;
  refreshAt: number | null;
}

export interface NewLoginTokens {
  tokens: LoginTokens;
  /** Null: as before. */
  scopes: string[] | null;
}

interface Begin {
  url: string;
  /** A client that a person has set; null: the server introduces itself. */
  client: OAuthClient | null;
  /** Null: those that the MCP server names. */
  scopes: readonly string[] | null;
  state: string;
  /** How the server introduces itself. `client_id` is the address of its document. */
  self: McpClient;
  /** Whether authorization servers can read that document. */
  hasDocument: boolean;
}

type Fetch = ReturnType<GuardedFetch["within"]>;

/**
 * Signs in to MCP servers. Errors are `LoginRefused`, whose messages are for people and contain nothing that a server sent, and
 * others if a server does not answer.
 */
export class McpOAuth {
  readonly #outbound: Outbound;
  readonly #fetch: GuardedFetch;

  constructor(outbound: Outbound, fetch: GuardedFetch) {
    this.#outbound = outbound;
    this.#fetch = fetch;
  }

  /** Finds the authorization server, and the address where a person signs in. */
  async begin(asked: Begin): Promise<{ authorizationUrl: string; attempt: Attempt }> {
    const fetch = this.#step();
    const { issuer, resource, scopes } = await readable("The MCP server", () => describe(asked.url, fetch));
    const server = await readable("The authorization server", () => authorizationServer(issuer, fetch));
    await this.#requirePage(server.authorization_endpoint);
    const scope = scopeOf(asked.scopes ?? scopes, server.scopes_supported);
    const client = await readable("The authorization server", () => clientFor(asked, server, scope, fetch));
    const [redirectUri] = asked.self.redirect_uris as [string];
    const { authorizationUrl, codeVerifier: verifier } = await readable("The authorization server", () =>
      startAuthorization(issuer, {
        metadata: server,
        clientInformation: client,
        redirectUrl: redirectUri,
        ...(scope !== "" && { scope }),
        state: asked.state,
        resource,
      }),
    );
    return {
      authorizationUrl: authorizationUrl.href,
      attempt: { server: usedOf(server), client, resource, verifier, redirectUri },
    };
  }

  /** Throws `LoginRefused` for an answer from another authorization server (RFC 9207). */
  requireIssuer({ server }: Attempt, iss: string | null): void {
    try {
      validateAuthorizationResponseIssuer({
        iss: iss ?? undefined,
        expectedIssuer: server.issuer,
        issParameterSupported: server.authorization_response_iss_parameter_supported === true,
      });
    } catch (error) {
      throw new LoginRefused("The answer did not come from the authorization server that was asked.", { cause: error });
    }
  }

  /** Exchanges the code for tokens. The issuer has been checked. */
  async finish(attempt: Attempt, code: string): Promise<NewLoginTokens> {
    const { server, client, resource, verifier, redirectUri } = attempt;
    const given = await answered("did not accept the sign-in", () =>
      exchangeAuthorization(server.issuer, {
        // Its issuer was compared with the browser's answer.
        metadata: { ...server, authorization_response_iss_parameter_supported: false },
        clientInformation: client,
        authorizationCode: code,
        codeVerifier: verifier,
        redirectUri,
        resource,
        fetchFn: this.#step(),
      }),
    );
    return tokensIn(given, { server, client, resource });
  }

  /** The tokens must have a refresh token. */
  async refresh({ server, client, resource, refreshToken }: LoginTokens): Promise<NewLoginTokens> {
    const given = await answered("did not refresh the token", () =>
      refreshAuthorization(server.issuer, {
        metadata: { ...server },
        clientInformation: client,
        refreshToken: refreshToken!,
        resource,
        fetchFn: this.#step(),
      }),
    );
    return tokensIn(given, { server, client, resource });
  }

  /** Revokes tokens where that is offered (RFC 7009). Rejects if the server does not answer. */
  async revoke({ server, client, accessToken, refreshToken }: LoginTokens): Promise<void> {
    const { revocation_endpoint: endpoint } = server;
    if (endpoint === undefined) return;
    const form = new URLSearchParams({
      token: refreshToken ?? accessToken,
      token_type_hint: refreshToken === null ? "access_token" : "refresh_token",
    });
    const headers = new Headers({ "content-type": "application/x-www-form-urlencoded" });
    const { client_id: id, client_secret: secret = "" } = client;
    const method = selectClientAuthMethod(client, server.token_endpoint_auth_methods_supported ?? []);
    if (method === "client_secret_basic") headers.set("authorization", `Basic ${btoa(`${id}:${secret}`)}`);
    else form.set("client_id", id);
    if (method === "client_secret_post") form.set("client_secret", secret);
    await this.#step()(endpoint, { method: "POST", headers, body: form });
  }

  async close(): Promise<void> {
    await this.#fetch.close();
  }

  #step(): Fetch {
    return this.#fetch.within(AbortSignal.timeout(stepMs));
  }

  /** A person's browser is sent there. */
  async #requirePage(url: string): Promise<void> {
    try {
      await this.#outbound.requireAllowed(url);
    } catch (error) {
      throw new LoginRefused("The authorization server's page is not on the public internet.", { cause: error });
    }
  }
}

/** The authorization server of an MCP server, the resource indicator, and the scopes to ask for (RFC 9728). */
async function describe(url: string, fetch: Fetch): Promise<{ issuer: string; resource: string; scopes: string[] }> {
  const canonical = resourceUrlFromServerUrl(url);
  const challenge = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
  });
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(challenge);
  let status = 0;
  const watched: Fetch = async (asked, init) => {
    const answer = await fetch(asked, init);
    ({ status } = answer);
    return answer;
  };
  const options = resourceMetadataUrl ? { resourceMetadataUrl } : {};
  const known = await discoverOAuthProtectedResourceMetadata(url, options, watched).catch((error: unknown) => {
    if (status >= 400 && status < 500 && !resourceMetadataUrl) return null;
    throw error;
  });
  const words = (scope?.split(" ") ?? known?.scopes_supported ?? []).filter((word) => word !== "");
  const own = new URL("/", canonical).href;
  if (!known) {
    if (challenge.ok) throw new LoginRefused("The MCP server asks for no sign-in.");
    // The specification of 2025-03-26 has no such document: the authorization server is at the server's own origin.
    return { issuer: own, resource: canonical.href, scopes: words };
  }
  if (!checkResourceAllowed({ requestedResource: canonical, configuredResource: known.resource })) {
    throw new LoginRefused("The MCP server describes itself as another one.");
  }
  return {
    issuer: known.authorization_servers?.[0] ?? own,
    resource: known.resource,
    scopes: words,
  };
}

async function authorizationServer(issuer: string, fetchFn: Fetch): Promise<AuthorizationServerMetadata> {
  const server = await discoverAuthorizationServerMetadata(issuer, { fetchFn });
  if (!server) throw new LoginRefused("The authorization server does not describe itself (RFC 8414).");
  if (!server.code_challenge_methods_supported?.includes("S256")) {
    throw new LoginRefused("The authorization server does not support PKCE with S256, which is required.");
  }
  return server;
}

/** In the order of the specification: a known client, a document, a registration. */
async function clientFor(
  { client, self, hasDocument }: Begin,
  server: AuthorizationServerMetadata,
  scope: string,
  fetchFn: Fetch,
): Promise<OAuthClient> {
  if (client) return client;
  if (hasDocument && "client_id_metadata_document_supported" in server && server.client_id_metadata_document_supported)
    return { client_id: self.client_id, token_endpoint_auth_method: "none" };
  if (server.registration_endpoint === undefined) {
    throw new LoginRefused("The authorization server registers no clients: register one there, and give its clientId.");
  }
  const { client_id: _, ...clientMetadata } = self;
  const methods = server.token_endpoint_auth_methods_supported ?? [];
  const method = ["none", "client_secret_post", "client_secret_basic"].find((each) => methods.includes(each)) ?? "none";
  const registered = await registerClient(server.issuer, {
    metadata: server,
    clientMetadata: { ...clientMetadata, token_endpoint_auth_method: method },
    ...(scope !== "" && { scope }),
    fetchFn,
  });
  const { client_id, client_secret, token_endpoint_auth_method = method } = registered;
  if (!isText(client_id) || (client_secret !== undefined && !isText(client_secret))) {
    throw new LoginRefused("The authorization server's registration cannot be used.");
  }
  return { client_id, ...(client_secret !== undefined && { client_secret }), token_endpoint_auth_method };
}

/** A refresh token needs a scope at servers that follow OpenID Connect. */
function scopeOf(scopes: readonly string[], supported: readonly string[] | undefined): string {
  const isOffline = scopes.length > 0 && supported?.includes("offline_access") === true;
  return [...new Set([...scopes, ...(isOffline ? ["offline_access"] : [])])].join(" ");
}

function usedOf(server: AuthorizationServerMetadata): Server {
  const { issuer, authorization_endpoint, token_endpoint, response_types_supported } = server;
  const { revocation_endpoint: revocation } = server as { revocation_endpoint?: unknown };
  return {
    ...{ issuer, authorization_endpoint, token_endpoint, response_types_supported },
    ...(typeof revocation === "string" && { revocation_endpoint: revocation }),
    token_endpoint_auth_methods_supported: server.token_endpoint_auth_methods_supported,
    authorization_response_iss_parameter_supported: server.authorization_response_iss_parameter_supported,
  };
}

/** Throws `LoginRefused` for tokens that cannot be sent in a header. */
function tokensIn(given: OAuthTokens, grant: Grant): NewLoginTokens {
  const { access_token: accessToken, refresh_token: refreshToken = null, token_type: type, scope } = given;
  if (type.toLowerCase() !== "bearer" || !isText(accessToken) || (refreshToken !== null && !isText(refreshToken))) {
    throw new LoginRefused("The authorization server's tokens cannot be used.");
  }
  const seconds = given.expires_in ?? (refreshToken === null ? null : usualLifetimeSeconds);
  const lifetimeMs =
    seconds === null ? null : Math.min(Math.max(seconds, leastLifetimeSeconds), mostLifetimeSeconds) * 1000;
  const expiresAt = lifetimeMs === null ? null : Date.now() + lifetimeMs;
  const refreshAt = lifetimeMs === null ? null : expiresAt! - Math.min(earlyMs, lifetimeMs / 4);
  return {
    tokens: { ...grant, accessToken, refreshToken, expiresAt, refreshAt },
    scopes:
      scope
        ?.split(" ")
        .filter((word) => /^[\x21-\x7e]{1,200}$/.test(word))
        .slice(0, maximumScopes) ?? null,
  };
}

/** Text that may be sent in a header. */
function isText(value: unknown): value is string {
  return typeof value === "string" && value.length <= maximumToken && /^[\x21-\x7e]+$/.test(value);
}

/** Runs a step of the discovery. Its failures are final: a person begins again. */
async function readable<Value>(who: string, read: () => Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof LoginRefused) throw error;
    throw new LoginRefused(`${who} ${reasonOf(error)}`);
  }
}

/** Completes a sentence about a server, with nothing that it sent. */
export function reasonOf(error: unknown): string {
  if (error instanceof CallFailed) return `cannot be called. ${error.message}`;
  if (error instanceof IssuerMismatchError) return "describes itself as another one (RFC 8414, 3.3).";
  const { code, name } = error as NodeJS.ErrnoException;
  if (name === "TimeoutError" || name === "AbortError") return "does not answer in time.";
  if (typeof code === "string" && /^(E[A-Z]+|UND_ERR_[A-Z_]+|[A-Z_]*CERT[A-Z_]*)$/.test(code))
    return `cannot be reached (${code}).`;
  return "gives no answer that can be used for signing in.";
}

/** Errors of RFC 6749, 5.2, after which the same request is refused again. */
const finalErrors: readonly string[] = ["invalid_grant", "invalid_client", "unauthorized_client", "invalid_target"];

/** Asks for tokens. Throws `LoginRefused` if the server refuses for good. */
async function answered(refusal: string, ask: () => Promise<OAuthTokens>): Promise<OAuthTokens> {
  try {
    return await ask();
  } catch (error) {
    const code = error instanceof OAuthError ? String(error.code) : "";
    if (!finalErrors.includes(code)) throw error;
    throw new LoginRefused(`The authorization server ${refusal} (${code}).`);
  }
}
