import { decodeJwt } from "jose";
import { Agent, request } from "undici";
import { LoginRefused } from "../core/fresh-tokens.ts";
import { isObject, type JsonObject } from "../models/wires/wire.ts";

// ChatGPT's login of Codex, as its own program uses it: https://github.com/openai/codex/tree/main/codex-rs/login

/** Codex's public id. Others get no tokens for its backend. */
const clientId = "app_EMoamEEZ73f0CkXaXp7hrann";
/** The claim with the account. */
const accountClaim = "https://api.openai.com/auth";

const timeoutMs = 10_000;
const maximumAnswerBytes = 64 * 1024;
const lifetimeSeconds = 15 * 60;
const usualIntervalSeconds = 5;
const maximumIntervalSeconds = 60;
/** The part of a token's lifetime after which it is refreshed, and the bounds of that, in seconds. */
const refreshPart = 0.8;
const leastRefreshSeconds = 60;
const mostRefreshSeconds = 30 * 86_400;
/** Of a token that does not say its lifetime. */
const usualLifetimeSeconds = 3_600;

/** A login that a person is to finish at the vendor's page. */
export interface Device {
  id: string;
  userCode: string;
  verificationUrl: string;
  intervalSeconds: number;
  lifetimeSeconds: number;
}

export interface Tokens {
  accessToken: string;
  refreshToken: string;
  accountId: string;
  /** In milliseconds of this host's clock. */
  expiresAt: number;
}

/** Tokens of the vendor, and what to do with them. */
export interface NewTokens {
  tokens: Tokens;
  /** The account as people see it. */
  account: string | null;
  refreshSeconds: number;
}

/** The reasons that the vendor has for refusing to refresh. */
const refusals: Record<string, string> = {
  refresh_token_expired: "The login has expired.",
  refresh_token_reused: "The login was refreshed by another program.",
  refresh_token_invalidated: "The login was revoked.",
  invalid_grant: "The login has expired or was revoked.",
};

interface Answer {
  status: number;
  /** Empty: it is no JSON object. */
  body: JsonObject;
}

/** The vendor's servers for logins. Answers are bounded in size and time, and redirects are not followed. */
export class ChatGptLogin {
  readonly #url: string;
  readonly #dispatcher = new Agent({ connect: { timeout: timeoutMs } });

  constructor(url: string) {
    this.#url = url;
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }

  /** Begins a login. Throws `LoginRefused`, or another error if the vendor does not answer. */
  async begin(): Promise<Device> {
    const { status, body } = await this.#post("/api/accounts/deviceauth/usercode", { client_id: clientId });
    if (status === 404) throw new LoginRefused("OpenAI offers no login with a code here.");
    const { device_auth_id: id, interval } = body;
    const userCode = body.user_code ?? body.usercode;
    if (status !== 200 || !isText(id, 2_000) || !isText(userCode, 40)) throw unexpected(status);
    const seconds = Number(interval ?? usualIntervalSeconds);
    return {
      ...{ id, userCode, lifetimeSeconds },
      verificationUrl: `${this.#url}/codex/device`,
      intervalSeconds: Number.isFinite(seconds)
        ? Math.min(Math.max(seconds, 1), maximumIntervalSeconds)
        : usualIntervalSeconds,
    };
  }

  /** The tokens of a login; null: the person has not finished it. Throws as `begin`. */
  async finish({ id, userCode }: Device): Promise<NewTokens | null> {
    const asked = { device_auth_id: id, user_code: userCode };
    const { status, body } = await this.#post("/api/accounts/deviceauth/token", asked);
    if (status === 403 || status === 404) return null;
    if (status >= 500 || status === 429) throw unexpected(status);
    const { authorization_code: code, code_verifier: verifier } = body;
    if (status !== 200 || !isText(code, 4_000) || !isText(verifier, 4_000)) {
      throw new LoginRefused(`OpenAI did not accept the login (${status}).`);
    }
    const form = new URLSearchParams({
      grant_type: "authorization_code",
      code,
      redirect_uri: `${this.#url}/deviceauth/callback`,
      client_id: clientId,
      code_verifier: verifier,
    });
    const given = await this.#post("/oauth/token", form);
    if (given.status >= 500 || given.status === 429) throw unexpected(given.status);
    if (given.status !== 200) throw new LoginRefused(`OpenAI gave no tokens for the login (${given.status}).`);
    return tokensIn(given.body, null);
  }

  /** Throws as `begin`. */
  async refresh(before: Tokens): Promise<NewTokens> {
    const asked = { client_id: clientId, grant_type: "refresh_token", refresh_token: before.refreshToken };
    const { status, body } = await this.#post("/oauth/token", asked);
    if (status === 200) return tokensIn(body, before);
    const code = codeIn(body);
    if (Object.hasOwn(refusals, code)) throw new LoginRefused(refusals[code]!);
    if (status === 401) throw new LoginRefused("OpenAI does not accept the login any more (401).");
    throw unexpected(status);
  }

  async #post(path: string, content: object): Promise<Answer> {
    const isForm = content instanceof URLSearchParams;
    const { statusCode: status, body } = await request(`${this.#url}${path}`, {
      dispatcher: this.#dispatcher,
      method: "POST",
      headers: { "content-type": isForm ? "application/x-www-form-urlencoded" : "application/json" },
      body: isForm ? content.toString() : JSON.stringify(content),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const parts: Buffer[] = [];
    let size = 0;
    for await (const part of body) {
      size += part.length;
      if (size > maximumAnswerBytes) throw new Error("its answer is too large");
      parts.push(part);
    }
    return { status, body: objectIn(Buffer.concat(parts).toString("utf8")) };
  }
}

/** A refresh may leave out what has not changed. Throws `LoginRefused`. */
function tokensIn(body: JsonObject, before: Tokens | null): NewTokens {
  const { access_token: access, refresh_token: refresh, id_token: id } = body;
  const accessToken = access ?? before?.accessToken;
  const refreshToken = refresh ?? before?.refreshToken;
  if (!isText(accessToken, 16_384) || !isText(refreshToken, 16_384)) {
    throw new LoginRefused("OpenAI's answer to the login has no tokens.");
  }
  const [ofId, ofAccess] = [claimsOf(id), claimsOf(accessToken)];
  const accountId = accountOf(ofId) ?? accountOf(ofAccess) ?? before?.accountId;
  if (accountId === undefined) throw new LoginRefused("The login is for no ChatGPT account.");
  const { exp, iat } = ofAccess;
  // Both are of the vendor's clock.
  const isKnown = typeof exp === "number" && typeof iat === "number" && exp > iat;
  const lifetime = isKnown ? exp - iat : usualLifetimeSeconds;
  const refreshSeconds = Math.min(Math.max(lifetime * refreshPart, leastRefreshSeconds), mostRefreshSeconds);
  const account = isText(ofId.email, 320) ? ofId.email : null;
  return {
    tokens: { accessToken, refreshToken, accountId, expiresAt: Date.now() + lifetime * 1000 },
    ...{ account, refreshSeconds },
  };
}

/** The claims of a token; empty: it has none. Its signature is not checked: it came from the vendor over TLS. */
function claimsOf(token: unknown): JsonObject {
  try {
    return decodeJwt(String(token));
  } catch {
    return {};
  }
}

function accountOf(claims: JsonObject): string | undefined {
  const { [accountClaim]: auth } = claims;
  const id = isObject(auth) ? auth.chatgpt_account_id : undefined;
  return isText(id, 200) ? id : undefined;
}

function codeIn({ error, code }: JsonObject): string {
  const named = isObject(error) ? (error.code ?? error.type) : (error ?? code);
  return String(named ?? "").toLowerCase();
}

function objectIn(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** Text that may be sent in a header. */
function isText(value: unknown, maximum: number): value is string {
  return typeof value === "string" && value.length <= maximum && /^[\x21-\x7e]+$/.test(value);
}

function unexpected(status: number): Error {
  return new Error(`it answered with ${status}`);
}
