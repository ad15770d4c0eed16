import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { SignJWT } from "jose";
import { countTokens, messages } from "../../src/models/wires/messages.ts";
import { responses } from "../../src/models/wires/responses.ts";
import { ProviderServer, pass, Refused } from "./provider-servers.ts";

// The vendors of subscriptions: they speak their real protocols and check their authentication.

/** Anthropic's API as it serves subscriptions. */
export class ClaudeServer extends ProviderServer {
  /** The tokens of `claude setup-token` that are valid. */
  readonly tokens = new Set<string>();
  models: string[] = [];
  /** Requests without a valid token. */
  refused = 0;

  static start(): Promise<ClaudeServer> {
    return new ClaudeServer().listen();
  }

  protected async serve(request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
    const { authorization = "", "anthropic-beta": betas = "" } = request.headers;
    const isOAuth = String(betas).split(",").includes("oauth-2025-04-20");
    if ("x-api-key" in request.headers || !isOAuth || !this.tokens.has(authorization.replace("Bearer ", ""))) {
      this.refused++;
      throw new Refused(401, `OAuth token has been revoked: ${authorization}`);
    }
    const path = request.url!.split("?")[0]!;
    if (path === "/v1/models") {
      response.writeHead(200, { "content-type": "application/json" });
      return void response.end(JSON.stringify({ data: this.models.map((id) => ({ id })) }));
    }
    const wire = [messages, countTokens].find((each) => path === each.path);
    if (!wire) throw new Refused(404, `no ${path}`);
    await pass(await this.model(wire, JSON.parse(body.toString("utf8")), request), response);
  }
}

/** How a server for logins answers instead of as it should. */
const nonsenses = {
  html: [200, "<html>Just a moment…</html>"],
  huge: [200, `{"user_code": "${"x".repeat(1024 * 1024)}"}`],
  redirect: [302, ""],
  empty: [200, "{}"],
  unavailable: [503, '{"error": "unavailable"}'],
} as const;
export type Nonsense = keyof typeof nonsenses;

/** OpenAI's login of Codex, and ChatGPT's backend for it. */
export class ChatGptServer extends ProviderServer {
  readonly accountId = "acct-0001";
  readonly email = "ada@example.com";
  /** The codes of logins, and whether a person has entered them. */
  readonly codes = new Map<string, boolean>();
  /** Tokens that are valid. */
  readonly access = new Set<string>();
  readonly refresh = new Set<string>();
  readonly spent = new Set<string>();
  refreshes = 0;
  /** How long a refresh takes. */
  refreshMs = 0;
  /** Refreshing has no answer. */
  isAway = false;
  polls = 0;
  nonsense: Nonsense | null = null;
  tokenSeconds = 864_000;
  #made = 0;

  static start(): Promise<ChatGptServer> {
    return new ChatGptServer().listen();
  }

  get urls() {
    return { chatGpt: `${this.url}/backend-api/codex`, chatGptLogin: this.url };
  }

  protected async serve(request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
    const text = body.toString("utf8");
    if (request.url === "/backend-api/codex/responses") return this.#respond(request, text, response);
    if (this.nonsense) return talkNonsense(this.nonsense, response);
    switch (request.url) {
      case "/api/accounts/deviceauth/usercode":
        return this.#giveCode(JSON.parse(text), response);
      case "/api/accounts/deviceauth/token":
        return this.#giveAuthorization(JSON.parse(text), response);
      case "/oauth/token":
        return request.headers["content-type"] === "application/json"
          ? this.#refreshTokens(JSON.parse(text), response)
          : this.#giveTokens(new URLSearchParams(text), response);
    }
    throw new Refused(404, `no ${request.url}`);
  }

  async #respond(request: IncomingMessage, text: string, response: ServerResponse): Promise<void> {
    const { authorization = "", "chatgpt-account-id": account } = request.headers;
    if (!this.access.has(authorization.replace("Bearer ", "")) || account !== this.accountId) {
      throw new Refused(401, `Provided authentication token is expired: ${authorization}`);
    }
    const asked = JSON.parse(text);
    const excess = ["user", "max_output_tokens", "metadata", "safety_identifier"].find((name) => name in asked);
    if (excess) throw new Refused(400, `Unsupported parameter: ${excess}`);
    // Codex's own instructions were a field of their own, and are a message of a developer since.
    const isInstructed = asked.instructions || asked.input?.[0]?.role === "developer";
    if (asked.store !== false || asked.stream !== true || !isInstructed) throw new Refused(400, "not as Codex asks");
    await pass(await this.model(responses, asked, request), response);
  }

  #giveCode({ client_id: client }: { client_id?: string }, response: ServerResponse): void {
    if (!client?.startsWith("app_")) throw new Refused(400, "no client");
    const code = `CODE-${++this.#made}`;
    this.codes.set(code, false);
    send(response, { device_auth_id: `device-of-${code}`, user_code: code, interval: "1" });
  }

  #giveAuthorization(asked: { device_auth_id?: string; user_code?: string }, response: ServerResponse): void {
    this.polls++;
    const { device_auth_id: id, user_code: code = "" } = asked;
    if (!this.codes.has(code) || id !== `device-of-${code}`) throw new Refused(400, "no such login");
    if (!this.codes.get(code)) throw new Refused(403, "authorization_pending");
    send(response, {
      authorization_code: `code-of-${code}`,
      code_challenge: "c",
      code_verifier: `verifier-of-${code}`,
    });
  }

  async #giveTokens(form: URLSearchParams, response: ServerResponse): Promise<void> {
    const code = form.get("code")?.replace("code-of-", "") ?? "";
    const isRight =
      form.get("grant_type") === "authorization_code" &&
      form.get("redirect_uri") === `${this.url}/deviceauth/callback` &&
      form.get("code_verifier") === `verifier-of-${code}`;
    if (!isRight || !this.codes.get(code)) throw new Refused(400, "invalid_grant");
    this.codes.delete(code);
    send(response, await this.#tokens());
  }

  async #refreshTokens(asked: Record<string, string>, response: ServerResponse): Promise<void> {
    this.refreshes++;
    if (this.refreshMs > 0) await sleep(this.refreshMs);
    if (this.isAway) return void response.destroy();
    const { refresh_token: token = "", grant_type: grant } = asked;
    if (grant !== "refresh_token" || !this.refresh.has(token)) {
      const code = this.spent.has(token) ? "refresh_token_reused" : "refresh_token_invalidated";
      return send(response, { error: { code, message: `no such token ${token}` } }, 401);
    }
    this.refresh.delete(token);
    this.spent.add(token);
    send(response, await this.#tokens());
  }

  async #tokens() {
    const made = ++this.#made;
    const claims = { email: this.email, "https://api.openai.com/auth": { chatgpt_account_id: this.accountId } };
    const jwt = () =>
      new SignJWT({ ...claims, jti: String(made) })
        .setProtectedHeader({ alg: "HS256" })
        .setIssuedAt()
        .setExpirationTime(`${this.tokenSeconds}s`)
        .sign(new TextEncoder().encode("a secret of the vendor for its tokens"));
    const [id_token, access_token] = [await jwt(), await jwt()];
    const refresh_token = `rt_secret_${made}`;
    this.access.add(access_token);
    this.refresh.add(refresh_token);
    return { id_token, access_token, refresh_token };
  }
}

function send(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

function talkNonsense(nonsense: Nonsense, response: ServerResponse): void {
  const [status, body] = nonsenses[nonsense];
  response.writeHead(status, {
    "content-type": "application/json",
    ...(status === 302 && { location: "http://127.0.0.1:9/" }),
  });
  response.end(body);
}
