import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { DemoInMemoryAuthProvider } from "@modelcontextprotocol/sdk/examples/server/demoInMemoryOAuthProvider.js";
import { InvalidGrantError } from "@modelcontextprotocol/sdk/server/auth/errors.js";
import type { AuthorizationParams } from "@modelcontextprotocol/sdk/server/auth/provider.js";
import { mcpAuthRouter } from "@modelcontextprotocol/sdk/server/auth/router.js";
import { createMcpExpressApp } from "@modelcontextprotocol/sdk/server/express.js";
import type { OAuthClientInformationFull, OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js";

import { Browser, type Page } from "./browser.ts";
import type { TestClient } from "./client.ts";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;
type Redirects = Parameters<DemoInMemoryAuthProvider["authorize"]>[2];

/** The SDK's example, with refresh tokens that are valid once, and people who may refuse. */
class RotatingProvider extends DemoInMemoryAuthProvider {
  /** With the access token that came with each. */
  readonly refreshTokens = new Map<string, string>();
  /** All access tokens. */
  readonly issued = new Set<string>();
  /** Access tokens that were revoked, or replaced. */
  readonly ended = new Set<string>();
  readonly revoked: string[] = [];
  /** The resource indicators of all requests. */
  readonly resources: (string | undefined)[] = [];
  readonly scopes: (string[] | undefined)[] = [];
  refreshes = 0;
  /** Before a refresh is answered. */
  refreshMs = 0;
  /** Of access tokens; null: they do not say. */
  lifetimeSeconds: number | null = 3_600;
  givesRefreshTokens = true;
  prefix = "canary-token-";
  consents = true;
  /** The `iss` of the redirect; null: none. */
  iss: string | null = null;

  override async authorize(client: OAuthClientInformationFull, params: AuthorizationParams, response: Redirects) {
    this.resources.push(params.resource?.href);
    this.scopes.push(params.scopes);
    const redirect = response.redirect.bind(response);
    response.redirect = ((url: string) => {
      const target = new URL(url);
      if (!this.consents) {
        target.searchParams.delete("code");
        target.searchParams.set("error", "access_denied");
        target.searchParams.set("error_description", "<b>canary-description</b>");
      }
      if (this.iss !== null) target.searchParams.set("iss", this.iss);
      redirect(target.href);
    }) as typeof response.redirect;
    await super.authorize(client, params, response);
  }

  override async exchangeAuthorizationCode(client: OAuthClientInformationFull, code: string, verifier?: string) {
    return this.#with(await super.exchangeAuthorizationCode(client, code, verifier), client.client_id);
  }

  override async exchangeRefreshToken(
    client: OAuthClientInformationFull,
    refreshToken: string,
    _scopes?: string[],
    resource?: URL,
  ): Promise<OAuthTokens> {
    this.resources.push(resource?.href);
    const access = this.refreshTokens.get(refreshToken);
    this.refreshes++;
    this.refreshTokens.delete(refreshToken);
    if (this.refreshMs > 0) await sleep(this.refreshMs);
    if (access === undefined) throw new InvalidGrantError(`the token ${refreshToken} was used before`);
    this.ended.add(access);
    return this.#with({ access_token: "", token_type: "bearer" }, client.client_id);
  }

  async revokeToken(_client: OAuthClientInformationFull, { token }: { token: string }): Promise<void> {
    this.revoked.push(token);
    this.ended.add(this.refreshTokens.get(token) ?? token);
    this.refreshTokens.delete(token);
  }

  /** No access token that was given is accepted any more. */
  endAll(): void {
    for (const token of this.issued) this.ended.add(token);
  }

  /** Whether a request with this header is allowed. */
  accepts(authorization = ""): boolean {
    const token = /^Bearer (.+)$/.exec(authorization)?.[1] ?? "";
    return this.issued.has(token) && !this.ended.has(token);
  }

  #with(tokens: OAuthTokens, client: string): OAuthTokens {
    const access = `${this.prefix}${randomUUID()}`;
    this.issued.add(access);
    const { expires_in: _, ...rest } = tokens;
    const refresh = `canary-refresh-${randomUUID()}`;
    if (this.givesRefreshTokens) this.refreshTokens.set(refresh, access);
    return {
      ...rest,
      access_token: access,
      ...(this.lifetimeSeconds !== null && { expires_in: this.lifetimeSeconds }),
      ...(this.givesRefreshTokens && { refresh_token: refresh }),
      scope: `mcp:tools ${client.slice(0, 4)}`,
    };
  }
}

/** An MCP server and its authorization server, which speak the real protocols: the MCP SDK's. */
export class SignInServers implements Disposable {
  readonly provider = new RotatingProvider();
  /** Answers for paths of the authorization server or the MCP server, in place of the real ones. */
  readonly instead = new Map<string, Answer>();
  /** The paths of all requests. */
  readonly requests: string[] = [];
  /** Changes the authorization server's metadata. */
  metadata: Record<string, unknown> = {};
  readonly #auth = createServer();
  readonly #mcp = createServer((request, response) => this.#serve(request, response));

  static async start(): Promise<SignInServers> {
    const servers = new SignInServers();
    for (const each of [servers.#auth, servers.#mcp]) {
      each.listen(0, "127.0.0.1");
      await once(each, "listening");
    }
    const { provider } = servers;
    const app = createMcpExpressApp({ host: "localhost" });
    const unlimited = { rateLimit: false } as const;
    app.use(
      mcpAuthRouter({
        provider,
        issuerUrl: new URL(servers.issuer),
        scopesSupported: ["mcp:tools"],
        authorizationOptions: unlimited,
        clientRegistrationOptions: unlimited,
        revocationOptions: unlimited,
        tokenOptions: unlimited,
      }),
    );
    servers.#auth.on("request", (request: IncomingMessage, response: ServerResponse) => {
      servers.requests.push(pathOf(request));
      const answer = servers.instead.get(pathOf(request));
      if (answer) return void answer(request, response);
      if (pathOf(request) === metadataPath) servers.#change(response);
      app(request as never, response as never);
    });
    return servers;
  }

  get issuer(): string {
    return `http://localhost:${portOf(this.#auth)}/`;
  }

  /** The MCP server's address. */
  get url(): string {
    return `http://localhost:${portOf(this.#mcp)}/mcp`;
  }

  /** As `egressInside` names them. */
  get inside(): string[] {
    return [new URL(this.issuer).host, new URL(this.url).host];
  }

  /** The answer to a program in a machine. */
  ask(proxy: string, authorization: string): Promise<{ status: number; body: string }> {
    return askMcp(proxy, this.url, authorization);
  }

  [Symbol.dispose](): void {
    for (const each of [this.#auth, this.#mcp]) each.close().closeAllConnections();
  }

  /** Applies the changes to the JSON of an answer. */
  #change(response: ServerResponse): void {
    const end = response.end.bind(response);
    const write = (body: string) => {
      const changed = JSON.stringify({ ...JSON.parse(body), ...this.metadata });
      response.setHeader("content-length", Buffer.byteLength(changed));
      return end(changed);
    };
    response.end = ((body: Buffer | string) => write(String(body))) as typeof response.end;
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    this.requests.push(pathOf(request));
    const answer = this.instead.get(`mcp ${pathOf(request)}`);
    if (answer) return void answer(request, response);
    const described = new URL("/.well-known/oauth-protected-resource/mcp", this.url);
    if (pathOf(request) === described.pathname) return void json(response, 200, this.description);
    if (this.provider.accepts(request.headers.authorization)) {
      return void json(response, 200, { with: Buffer.from(request.headers.authorization!).toString("base64") });
    }
    const challenge = `Bearer error="invalid_token", resource_metadata="${described.href}"`;
    response.setHeader("www-authenticate", challenge);
    json(response, 401, { error: "invalid_token" });
  }

  /** RFC 9728. */
  get description(): Record<string, unknown> {
    return { resource: this.url, authorization_servers: [this.issuer], scopes_supported: ["mcp:tools"] };
  }
}

const metadataPath = "/.well-known/oauth-authorization-server";

/** The status and the text of an MCP server's answer to a program in a machine. */
export async function askMcp(proxy: string, url: string, authorization: string) {
  const headers = {
    host: new URL(url).host,
    authorization,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const asked = request(proxy, { method: "POST", path: url, headers });
  asked.end(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }));
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  return { status: response.statusCode!, body: await text(response) };
}

/** Signs in to an MCP server, in the browser that begins it. Returns the last page. */
export async function connectIn(client: TestClient, secret: string, asked: object): Promise<Page> {
  const begun = await client.call("POST", `/secrets/${secret}/connect`, asked);
  if (begun.status !== 200) throw new Error(`not begun: ${begun.body.message}`);
  const browser = new Browser();
  browser.take(begun);
  return visit(browser, begun.body.authorizationUrl);
}

/** The last page after an authorization server's, which leads back to the service. */
export async function visit(browser: Browser, authorizationUrl: string): Promise<Page> {
  return browser.get((await browser.get(authorizationUrl)).url);
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function pathOf({ url }: IncomingMessage): string {
  return url!.split("?")[0]!;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
