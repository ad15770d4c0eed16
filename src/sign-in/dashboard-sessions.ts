import { createHash, randomBytes } from "node:crypto";
import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";

/** The duration of a browser's sign-in, in milliseconds. */
export const dashboardSessionMs = 30 * 24 * 60 * 60 * 1000;

/** A token that expires sooner than this is renewed first. */
const renewBeforeMs = 60_000;
/** How long one server may take to renew a session's tokens, and the others wait for it. */
const renewalMs = 10_000;
const pollMs = 200;

/** A provider's tokens for a sign-in. */
export interface SessionTokens {
  accessToken: string;
  /** In milliseconds since 1970. */
  accessExpiresAt: number;
  /** Null if the provider gives none: the session ends with its access token. */
  refreshToken: string | null;
  idToken: string | null;
}

/** A pending sign-in, which the browser keeps until the provider redirects it back. */
export interface PendingSignIn {
  state: string;
  verifier: string;
}

export interface StoredSession {
  /** The SHA-256 of the cookie's value. */
  idHash: Buffer;
  accountId: string;
  /** Sealed. */
  tokens: Buffer;
}

const pendingContext = "dashboard sign-in";

/**
 * Sign-ins to the dashboard. Codes and refresh tokens stay in the service. The browser has a session cookie, and access
 * tokens that are valid for minutes. The cookie never changes, so a lost response or a second tab does not sign anybody
 * out.
 */
export class DashboardSessions {
  readonly #context: AppContext;
  /** This server's pending renewals, by session. */
  readonly #renewals = new Map<string, Promise<SessionTokens | null>>();

  constructor(context: AppContext) {
    this.#context = context;
  }

  /**
   * Returns the URL at which the browser signs in, and the cookie's content until then. `to`: the path to return to.
   */
  async begin(to: string): Promise<{ url: string; pending: string }> {
    const { url, pending } = await this.#context.webProvider.begin();
    const kept = this.#context.sealer.seal(JSON.stringify({ ...pending, to }), pendingContext);
    return { url, pending: kept.toString("base64url") };
  }

  /** Signs in. Returns the session for a cookie. Throws `request_invalid`, `account_disabled`. */
  async finish(returned: URL, kept: string): Promise<{ session: string; to: string }> {
    const { webProvider, sealer, principals, stores } = this.#context;
    const text = sealer.open(Buffer.from(kept, "base64url"), pendingContext);
    if (text === null) throw new BerthError("request_invalid", "This sign-in has ended. Begin again.");
    const { to, ...pending } = JSON.parse(text) as PendingSignIn & { to: string };
    const tokens = await webProvider.finish(returned, pending);
    const caller = await principals.find(tokens.accessToken);
    if (!caller) throw new BerthError("credentials_invalid", "This user may not use the service.");
    const session = randomBytes(32).toString("base64url");
    const idHash = hashOf(session);
    const stored = { idHash, accountId: caller.accountId, tokens: this.#seal(tokens, idHash) };
    await stores.dashboardSessions.insert(stored, new Date(Date.now() + dashboardSessionMs));
    return { session, to };
  }

  /**
   * Returns a token for the API that is valid for at least a minute. Throws `credentials_invalid` if nobody is signed
   * in.
   */
  async token(session: string): Promise<Pick<SessionTokens, "accessToken" | "accessExpiresAt">> {
    const { stores } = this.#context;
    const stored = await stores.dashboardSessions.find(hashOf(session));
    const tokens = stored && this.#open(stored);
    if (tokens && (await this.#isGood(tokens))) return tokens;
    const renewed = tokens && (await this.#renewed(stored, tokens));
    if (renewed && (await this.#isGood(renewed))) return renewed;
    // Of an account that was disabled.
    if (renewed) await stores.dashboardSessions.remove(stored.idHash);
    throw new BerthError("credentials_invalid", "You are signed out.");
  }

  /**
   * Signs out. `everywhere`: in all browsers of the account and, where the provider can, its tools. Returns a page of the
   * provider to go to, if there is one.
   */
  async end(session: string, everywhere: boolean): Promise<string | null> {
    const { stores, webProvider, signIn } = this.#context;
    const own = await stores.dashboardSessions.find(hashOf(session));
    if (!own) return null;
    const all = everywhere ? await stores.dashboardSessions.ofAccount(own.accountId) : [own];
    let page: string | null = null;
    for (const each of all) {
      const tokens = this.#open(each);
      // The browser is signed out even if the provider does not respond.
      const url = tokens && (await webProvider.end(tokens).catch(() => null));
      if (each.idHash.equals(own.idHash)) page = url;
      await stores.dashboardSessions.remove(each.idHash);
    }
    if (everywhere && signIn) await stores.users.endSignIns(own.accountId);
    return page;
  }

  /** A token may become invalid before it expires: its account was disabled, or the signing keys were replaced. */
  async #isGood(tokens: SessionTokens): Promise<boolean> {
    return isFresh(tokens) && (await this.#context.principals.find(tokens.accessToken)) !== null;
  }

  /** Replaces tokens that are no longer valid. Null if the sign-in has ended. */
  #renewed(stored: StoredSession, spent: SessionTokens): Promise<SessionTokens | null> {
    const name = stored.idHash.toString("hex");
    const renewal = this.#renewals.get(name) ?? this.#renew(stored, spent).finally(() => this.#renewals.delete(name));
    this.#renewals.set(name, renewal);
    return renewal;
  }

  async #renew({ idHash }: StoredSession, spent: SessionTokens): Promise<SessionTokens | null> {
    const { stores, webProvider } = this.#context;
    for (const end = Date.now() + renewalMs; !(await stores.dashboardSessions.beginRenewal(idHash, renewalMs)); ) {
      await new Promise((resolve) => setTimeout(resolve, pollMs));
      if (Date.now() > end) break;
    }
    const stored = await stores.dashboardSessions.find(idHash);
    const before = stored && this.#open(stored);
    if (!before) return null;
    let renewed: SessionTokens | null = null;
    try {
      // Another server may have done it.
      if (isFresh(before) && before.accessToken !== spent.accessToken) renewed = before;
      else if (before.refreshToken !== null) renewed = await webProvider.renew(before.refreshToken);
      if (renewed === null) await stores.dashboardSessions.remove(idHash);
      return renewed;
    } finally {
      await stores.dashboardSessions.endRenewal(idHash, renewed && this.#seal(renewed, idHash));
    }
  }

  #seal(tokens: SessionTokens, idHash: Buffer): Buffer {
    return this.#context.sealer.seal(JSON.stringify(tokens), contextOf(idHash));
  }

  /** Null if they were sealed with another key. */
  #open({ tokens, idHash }: StoredSession): SessionTokens | null {
    const text = this.#context.sealer.open(tokens, contextOf(idHash));
    return text === null ? null : (JSON.parse(text) as SessionTokens);
  }
}

function isFresh({ accessExpiresAt }: SessionTokens): boolean {
  return accessExpiresAt - Date.now() > renewBeforeMs;
}

function contextOf(idHash: Buffer): string {
  return `dashboard session ${idHash.toString("hex")}`;
}

function hashOf(session: string): Buffer {
  return createHash("sha256").update(session).digest();
}
