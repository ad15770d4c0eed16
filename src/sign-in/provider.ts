import { randomBytes } from "node:crypto";
import type { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createLocalJWKSet, exportJWK, generateKeyPair, type JWK } from "jose";
import {
  type Adapter,
  type Configuration,
  errors,
  interactionPolicy,
  type KoaContextWithOIDC,
  Provider,
} from "oidc-provider";
import type { UserStore } from "../accounts/user-store.ts";
import { dashboardClient, signInPrefix, toolClient } from "../contract/sign-in.ts";
import type { SignInAttempts } from "./attempt-store.ts";
import { clientDocuments, type FetchDocument } from "./client-documents.ts";
import { of, type SignInAction } from "./page-requests.ts";
import { deviceCodePage, deviceConfirmPage, deviceReadyPage, errorPage, signedOutPage, signOutPage } from "./pages.ts";
import { clientOf, isOwnClient, registeredClient } from "./program-clients.ts";
import type { ProviderRecords } from "./provider-record-store.ts";
import { RecordAdapter } from "./records.ts";
import { registrationPath } from "./registration.ts";
import { devicePath, signInPages, signInPath, welcomePath } from "./sign-in.ts";
import { grantClaim, type TokenAudience, type VerifiedToken, verifyToken } from "./tokens.ts";

/** The audience of its tokens. Not the service's address, which may change. */
export const localAudience = "urn:berth:api";
/** The audience of tokens for `/mcp` alone: the address that MCP clients know it by. */
function mcpResource(publicUrl: string): string {
  return `${publicUrl}/mcp`;
}

const signature = "ES256";
const day = 24 * 3_600;
/** In seconds. */
const lifetimes = {
  AccessToken: 600,
  IdToken: 600,
  AuthorizationCode: 60,
  DeviceCode: 600,
  Interaction: 3_600,
  RefreshToken: 30 * day,
  Session: 30 * day,
  Grant: 365 * day,
};
/** Lifetime of a session without a sign-in. Short, because anybody can start any number of them. */
const anonymousSessionSeconds = 3_600;

/** The keys that the provider signs with, newest first. */
export interface ProviderKeys {
  /** Private keys. The first signs; all are published. */
  tokenKeys: readonly JWK[];
  /** The first signs; all are trusted. */
  cookieKeys: readonly string[];
}

export interface LocalProviderParts {
  records: ProviderRecords;
  users: UserStore;
  attempts: SignInAttempts;
  /** Logs what users did. Never rejects. */
  record: (action: SignInAction) => Promise<void>;
  /** Fetches the documents with which programs describe themselves; null: programs must register. */
  fetchDocument: FetchDocument | null;
  log: (message: string, error: unknown) => void;
}

/** A new key for signing tokens. */
export async function createTokenKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair(signature, { extractable: true });
  const kid = randomBytes(12).toString("base64url");
  return { ...(await exportJWK(privateKey)), kid, alg: signature, use: "sig" };
}

/** A new key for signing cookies. */
export function createCookieKey(): string {
  return randomBytes(32).toString("base64url");
}

/** The built-in OpenID provider, for local users. */
export class LocalProvider {
  readonly issuer: string;
  readonly #publicUrl: URL;
  /** The audiences that are accepted for each part of the service. */
  readonly #audiences: Readonly<Record<TokenAudience, string[]>>;
  readonly #handle: ReturnType<Provider["callback"]>;
  readonly #keys: ReturnType<typeof createLocalJWKSet>;
  readonly #records: ProviderRecords;

  /** `publicUrl`: the service's, without a trailing slash. */
  constructor(publicUrl: string, keys: ProviderKeys, parts: LocalProviderParts) {
    this.issuer = publicUrl + signInPrefix;
    this.#publicUrl = new URL(this.issuer);
    this.#records = parts.records;
    this.#audiences = { api: [localAudience], mcp: [localAudience, mcpResource(publicUrl)] };
    const { pathname: mount } = this.#publicUrl;
    const provider = new Provider(this.issuer, configurationOf(publicUrl, keys, parts, mount));
    // The headers that this trusts are set below, so clients cannot forge them.
    provider.proxy = true;
    provider.use(nameScope);
    provider.use(signInPages({ ...parts, cookieKeys: keys.cookieKeys, publicUrl, provider, mount }));
    provider.on("grant.success", (ctx) => void recordGrant(ctx, parts));
    provider.on("server_error", (_ctx, error) => parts.log("the identity provider has a fault", error));
    (provider as EventEmitter).on("error", (error: Error) => parts.log("the identity provider has a fault", error));
    this.#handle = provider.callback();
    this.#keys = createLocalJWKSet({ keys: keys.tokenKeys.map(publicPart) });
  }

  /** Answers a request for a path below `signInPrefix`. `address` is the client's. */
  handle(request: IncomingMessage & { originalUrl?: string }, response: ServerResponse, address: string): void {
    const { protocol, host, pathname } = this.#publicUrl;
    const path = withScope(request.url!.slice(signInPrefix.length) || "/");
    request.originalUrl = pathname + path;
    request.url = path;
    Object.assign(request.headers, {
      "x-forwarded-proto": protocol.slice(0, -1),
      "x-forwarded-host": host,
      "x-forwarded-for": address,
    });
    void this.#handle(request, response);
  }

  /**
   * Verifies an access token, whose subject is the user's id. Returns null for an invalid token, for one of a program
   * that the user has ended, and for the tool's after its sign-out.
   */
  async verify(token: string, audience: TokenAudience): Promise<VerifiedToken | null> {
    const accepted = { issuer: this.issuer, audience: this.#audiences[audience] };
    const verified = await verifyToken(token, this.#keys, accepted);
    if (!verified) return null;
    // The dashboard and the tool renew theirs for as long as the user is signed in.
    if (verified.clientId !== null && isOwnClient(verified.clientId))
      return (await this.#isSignedIn(verified)) ? { ...verified, expiresAt: null } : null;
    return (await this.isGranted(verified.subject, verified.clientId)) ? verified : null;
  }

  /** Whether the tool has not signed out. The dashboard's tokens are the server's, which forgets them at its sign-out. */
  async #isSignedIn({ clientId, grantId }: VerifiedToken): Promise<boolean> {
    if (clientId !== toolClient || grantId === null) return true;
    return (await new RecordAdapter("Grant", this.#records).find(grantId)) !== undefined;
  }

  /** Whether the user has not ended the program. */
  async isGranted(subject: string, clientId: string | null): Promise<boolean> {
    if (clientId === null || isOwnClient(clientId)) return true;
    return this.#records.hasGrant(subject, clientId);
  }

  /** The URL of a one-time link. */
  linkFor(token: string): string {
    return `${this.issuer}${welcomePath}?token=${token}`;
  }
}

/**
 * Adds the scope `openid` to an authorization request. RFC 6749, section 3.3 allows a default scope if the client names
 * none. Without a scope, the user would grant nothing.
 */
function withScope(path: string): string {
  const url = new URL(path, "http://provider");
  const scopes = (url.searchParams.get("scope") ?? "").split(" ").filter((scope) => scope !== "");
  if (url.pathname !== "/auth" || !url.searchParams.has("client_id") || scopes.includes("openid")) return path;
  url.searchParams.set("scope", ["openid", ...scopes].join(" "));
  return url.pathname + url.search;
}

/**
 * Names the granted scope in answers with tokens (RFC 6749, 5.1). The provider names the part that is for the resource,
 * which has none.
 */
async function nameScope(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  await next();
  const body = ctx.body as { scope?: string } | undefined;
  if (ctx.oidc?.route !== "token" || body?.scope !== "") return;
  const { RefreshToken, AuthorizationCode, DeviceCode } = ctx.oidc.entities;
  const scope = (RefreshToken ?? AuthorizationCode ?? DeviceCode)?.scope;
  if (scope) body.scope = scope;
  else delete body.scope;
}

/** Logs that tokens were issued, except when they replace older ones. */
async function recordGrant(ctx: KoaContextWithOIDC, { record }: LocalProviderParts): Promise<void> {
  const { params, account, client } = ctx.oidc;
  if (!account || params?.grant_type === "refresh_token") return;
  const own = client?.clientId === toolClient ? "sign in a device" : "sign in to the dashboard";
  const operation = client && !isOwnClient(client.clientId) ? "sign in a program" : own;
  await record({ ...of(ctx, account.accountId), operation, status: 200 });
}

function publicPart({ d: _, ...key }: JWK): JWK & { kty: string } {
  return { ...key, kty: key.kty! };
}

function configurationOf(
  publicUrl: string,
  { tokenKeys, cookieKeys }: ProviderKeys,
  { records, users, fetchDocument }: LocalProviderParts,
  mount: string,
): Configuration {
  const policy = interactionPolicy.base();
  policy.get("consent")!.checks.add(asksForPrograms);
  // The prefix stops sibling domains from overwriting the session cookie (RFC 6265bis).
  const isSecure = publicUrl.startsWith("https:");
  const sessionCookie = isSecure ? { name: "__Host-berth_session", path: "/" } : { name: "berth_session", path: mount };
  return {
    adapter: (model: string) =>
      model === "Client" ? registeredClients(cookieKeys) : new RecordAdapter(model, records),
    ...(fetchDocument ? { fetch: clientDocuments(fetchDocument) } : {}),
    discovery: { registration_endpoint: publicUrl + signInPrefix + registrationPath },
    jwks: { keys: tokenKeys.map((key) => ({ ...key })) },
    clients: clientsOf(publicUrl),
    clientDefaults: { id_token_signed_response_alg: signature, token_endpoint_auth_method: "none" },
    clientAuthMethods: ["none"],
    responseTypes: ["code"],
    pkce: { required: () => true },
    cookies: {
      keys: [...cookieKeys],
      names: { session: sessionCookie.name, interaction: "berth_interaction", resume: "berth_resume" },
      long: { httpOnly: true, sameSite: "lax", path: sessionCookie.path, signed: true },
      short: { httpOnly: true, sameSite: "lax", signed: true },
    },
    ttl: {
      ...lifetimes,
      Session: (_ctx, { accountId }) => (accountId ? lifetimes.Session : anonymousSessionSeconds),
    },
    rotateRefreshToken: true,
    extraTokenClaims: (_ctx, token) => ("grantId" in token ? { [grantClaim]: token.grantId } : undefined),
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed("refresh_token"),
    // Signing out in a browser ends the dashboard's tokens, but not the CLI's, which has its own sign-out.
    expiresWithSession: (_ctx, source) => source.clientId === dashboardClient,
    interactions: { policy, url: (_ctx, { uid }) => mount + signInPath + uid },
    loadExistingGrant,
    findAccount: async (_ctx, id) => {
      const user = await users.byId(id);
      return user && !user.disabledAt ? { accountId: id, claims: () => ({ sub: id }) } : undefined;
    },
    routes: { code_verification: devicePath },
    features: { ...featuresOf(mount, mcpResource(publicUrl)), clientIdMetadataDocument: documents(fetchDocument) },
    renderError: (ctx, out) => {
      ctx.type = "html";
      ctx.body = errorPage("This did not work", out.error_description ?? out.error);
    },
  };
}

function clientsOf(publicUrl: string): Configuration["clients"] {
  const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";
  return [
    {
      client_id: dashboardClient,
      client_name: "The dashboard",
      response_types: ["code"],
      grant_types: ["authorization_code", "refresh_token"],
      redirect_uris: [`${publicUrl}/`],
      post_logout_redirect_uris: [`${publicUrl}/`],
    },
    {
      client_id: toolClient,
      client_name: "The command line tool",
      response_types: [],
      redirect_uris: [],
      grant_types: [deviceGrant, "refresh_token"],
    },
  ];
}

/** Whether documents identify programs, and how long each is cached, in seconds. */
function documents(fetchDocument: FetchDocument | null) {
  return { enabled: fetchDocument !== null, ack: "draft-02", cacheDuration: { min: 60, max: 3_600 } };
}

function featuresOf(mount: string, mcp: string): NonNullable<Configuration["features"]> {
  const formOf = (ctx: KoaContextWithOIDC, path: string) => ({
    action: mount + path,
    xsrf: (ctx.oidc.session!.state as { secret: string }).secret,
  });
  return {
    devInteractions: { enabled: false },
    dPoP: { enabled: false },
    pushedAuthorizationRequests: { enabled: false },
    // Access tokens are for the service, where `GET /account` returns the user.
    userinfo: { enabled: false },
    revocation: { enabled: true, allowedPolicy: maySignOut },
    resourceIndicators: {
      enabled: true,
      defaultResource: (_ctx, { clientId }) => (isOwnClient(clientId) ? localAudience : mcp),
      useGrantedResource: () => true,
      // A third-party program's token opens `/mcp` alone.
      getResourceServerInfo: (_ctx, indicator, { clientId }) => {
        if (indicator !== (isOwnClient(clientId) ? localAudience : mcp)) throw new errors.InvalidTarget();
        const format = { accessTokenFormat: "jwt", jwt: { sign: { alg: signature } } } as const;
        return { scope: "", audience: indicator, accessTokenTTL: lifetimes.AccessToken, ...format };
      },
    },
    deviceFlow: {
      enabled: true,
      userCodeInputSource: (ctx, _form, _out, error) => {
        const given = (error as { userCode?: string } | undefined)?.userCode;
        ctx.type = "html";
        ctx.body = deviceCodePage({ ...formOf(ctx, devicePath), code: given, wrong: error && codeComplaint(error) });
      },
      userCodeConfirmSource: (ctx, _form, client, device, code) => {
        const about = { code, client: client.clientName ?? client.clientId, address: String(device.ip) };
        ctx.type = "html";
        ctx.body = deviceConfirmPage({ ...formOf(ctx, devicePath), ...about });
      },
      successSource: (ctx) => {
        ctx.type = "html";
        ctx.body = deviceReadyPage();
      },
    },
    rpInitiatedLogout: {
      enabled: true,
      logoutSource: (ctx) => {
        ctx.type = "html";
        ctx.body = signOutPage(formOf(ctx, "/session/end/confirm"));
      },
      postLogoutSuccessSource: (ctx) => {
        ctx.type = "html";
        ctx.body = signedOutPage();
      },
    },
  };
}

/** Signing out of the dashboard also signs the browser out: the next sign-in asks for the password. */
async function maySignOut(
  { oidc }: KoaContextWithOIDC,
  client: { clientId: string },
  token: { clientId?: string | undefined; sessionUid?: string | undefined },
): Promise<boolean> {
  if (token.clientId !== client.clientId) return false;
  if (client.clientId === dashboardClient && token.sessionUid !== undefined) {
    await (await oidc.provider.Session.findByUid(token.sessionUid))?.destroy();
  }
  return true;
}

function codeComplaint({ name }: Error): string {
  switch (name) {
    case "NoCodeError":
    case "NotFoundError":
      return "There is no such code.";
    case "ExpiredError":
      return "This code has ended. Begin again on the device.";
    case "AlreadyUsedError":
      return "This code was used before. Begin again on the device.";
    case "AbortedError":
      return "The device was refused.";
    default:
      return "This did not work. Begin again on the device.";
  }
}

/** Third-party programs need consent at each sign-in: anybody can register a program with any name. */
const asksForPrograms = new interactionPolicy.Check(
  "another_program",
  "programs need the user's consent",
  "interaction_required",
  ({ oidc }: KoaContextWithOIDC) => !isOwnClient(oidc.client!.clientId) && !oidc.result?.consent,
);

/**
 * Grants the service's own clients everything without asking, and others what the user has consented to in this sign-in.
 * Each device has its own grant, so signing out on one leaves the others signed in.
 */
async function loadExistingGrant({ oidc }: KoaContextWithOIDC) {
  const { provider, session, client, result } = oidc;
  if (!session?.accountId || !client) return undefined;
  const { grantId } = (result?.consent ?? {}) as { grantId?: string };
  if (grantId !== undefined) return provider.Grant.find(grantId);
  if (!isOwnClient(client.clientId)) return undefined;
  const known = client.clientId === toolClient ? undefined : session.grantIdFor(client.clientId);
  const existing = known ? await provider.Grant.find(known) : undefined;
  if (existing?.accountId === session.accountId) return existing;
  const grant = new provider.Grant({ accountId: session.accountId, clientId: client.clientId });
  grant.addOIDCScope("openid offline_access");
  await grant.save();
  return grant;
}

/** Registered programs, read from the metadata in their ids. */
function registeredClients(keys: readonly string[]): Adapter {
  const nothing = async () => undefined;
  return {
    find: async (id) => {
      const metadata = registeredClient(id, keys);
      return metadata ? { ...clientOf(id, metadata), response_types: ["code"] } : undefined;
    },
    upsert: nothing,
    findByUid: nothing,
    findByUserCode: nothing,
    consume: nothing,
    destroy: nothing,
    revokeByGrantId: nothing,
  };
}
