import { createHash, randomBytes } from "node:crypto";
import { BerthError } from "../contract/errors.ts";
import type { Caller } from "../core/http/caller.ts";

/** For how long a browser stays signed in, in milliseconds. */
export const dashboardSessionMs = 30 * 24 * 60 * 60 * 1000;

/** A token that is good for less than this is renewed first. */
const renewBeforeMs = 60_000;
/** How long one server may take to renew a session's tokens, and the others wait for it. */
const renewalMs = 10_000;
const pollMs = 200;

/** What a provider gave for a sign-in. */
export interface SessionTokens {
  accessToken: string;
  /** In milliseconds since 1970. */
  accessExpiresAt: number;
  /** Null if the provider gives none: the session ends with its access token. */
  refreshToken: string | null;
  idToken: string | null;
}

/** A sign-in that has begun, which the browser keeps until it comes back. */
export interface PendingSignIn {
  state: string;
  verifier: string;
}

export interface StoredSession {
  /** The SHA-256 of what the cookie holds. */
  idHash: Buffer;
  accountId: string;
  /** Sealed. */
  tokens: Buffer;
}

export interface DashboardSessionRows {
  insert(session: StoredSession, expiresAt: Date): Promise<void>;
  /** Null if it has ended. */
  find(idHash: Buffer): Promise<StoredSession | null>;
  ofAccount(accountId: string): Promise<StoredSession[]>;
  /** False if somebody is renewing its tokens. */
  beginRenewal(idHash: Buffer, forMs: number): Promise<boolean>;
  /** Null tokens: they stay what they are. */
  endRenewal(idHash: Buffer, tokens: Buffer | null): Promise<void>;
  remove(idHash: Buffer): Promise<void>;
}

/** The identity provider, as a page signs in there. All may throw `identity_provider_unavailable`. */
export interface WebProvider {
  begin(): Promise<{ url: string; pending: PendingSignIn }>;
  /** `returned`: the address with which the browser came back. Throws `request_invalid` for one that is not good. */
  finish(returned: URL, pending: PendingSignIn): Promise<SessionTokens>;
  /** Null if the sign-in has ended there. */
  renew(refreshToken: string): Promise<SessionTokens | null>;
  /** Ends a sign-in. Returns the page where the browser ends its own with the provider; null if that is done. */
  end(tokens: SessionTokens): Promise<string | null>;
}

interface SessionOptions {
  rows: DashboardSessionRows;
  provider: WebProvider;
  /** Ends all that the account has signed in with, the tool's logins too. Null: the provider offers no such thing. */
  endAll: ((accountId: string) => Promise<void>) | null;
  principals: { find(credential: string): Promise<Caller | null> };
  sealing: { seal(text: string, context: string): Buffer; open(sealed: Buffer, context: string): string | null };
}

const pendingContext = "dashboard sign-in";

/**
 * Sign-ins to the dashboard. Codes and refresh tokens stay here; the browser has a cookie that stands for them, and
 * access tokens of minutes. Its cookie never changes, so a lost answer or a second tab does not sign anybody out.
 */
export class DashboardSessions {
  readonly #options: SessionOptions;
  /** The renewals under way here, by session. */
  readonly #renewals = new Map<string, Promise<SessionTokens | null>>();

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** Where the browser signs in, and what its cookie keeps meanwhile. `to`: where it wants to be afterwards. */
  async begin(to: string): Promise<{ url: string; pending: string }> {
    const { url, pending } = await this.#options.provider.begin();
    const kept = this.#options.sealing.seal(JSON.stringify({ ...pending, to }), pendingContext);
    return { url, pending: kept.toString("base64url") };
  }

  /** Signs in. Returns the session for a cookie. Throws `request_invalid`, `account_disabled`. */
  async finish(returned: URL, kept: string): Promise<{ session: string; to: string }> {
    const { provider, sealing, principals, rows } = this.#options;
    const text = sealing.open(Buffer.from(kept, "base64url"), pendingContext);
    if (text === null) throw new BerthError("request_invalid", "This sign-in has ended. Begin again.");
    const { to, ...pending } = JSON.parse(text) as PendingSignIn & { to: string };
    const tokens = await provider.finish(returned, pending);
    const caller = await principals.find(tokens.accessToken);
    if (!caller) throw new BerthError("credentials_invalid", "This user may not use the service.");
    const session = randomBytes(32).toString("base64url");
    const idHash = hashOf(session);
    const stored = { idHash, accountId: caller.accountId, tokens: this.#seal(tokens, idHash) };
    await rows.insert(stored, new Date(Date.now() + dashboardSessionMs));
    return { session, to };
  }

  /** A token for the API that is good for at least a minute. Throws `credentials_invalid` if nobody is signed in. */
  async token(session: string): Promise<Pick<SessionTokens, "accessToken" | "accessExpiresAt">> {
    const { rows } = this.#options;
    const stored = await rows.find(hashOf(session));
    const tokens = stored && this.#open(stored);
    if (tokens && (await this.#isGood(tokens))) return tokens;
    const renewed = tokens && (await this.#renewed(stored, tokens));
    if (renewed && (await this.#isGood(renewed))) return renewed;
    // Of an account that was disabled.
    if (renewed) await rows.remove(stored.idHash);
    throw new BerthError("credentials_invalid", "You are signed out.");
  }

  /**
   * Signs out. `everywhere`: in all browsers of the account and, where the provider can, its tools. Returns a page of the
   * provider to go to, if there is one.
   */
  async end(session: string, everywhere: boolean): Promise<string | null> {
    const { rows, provider, endAll } = this.#options;
    const own = await rows.find(hashOf(session));
    if (!own) return null;
    const all = everywhere ? await rows.ofAccount(own.accountId) : [own];
    let page: string | null = null;
    for (const each of all) {
      const tokens = this.#open(each);
      // Signed out here even if the provider does not answer.
      const url = tokens && (await provider.end(tokens).catch(() => null));
      if (each.idHash.equals(own.idHash)) page = url;
      await rows.remove(each.idHash);
    }
    if (everywhere) await endAll?.(own.accountId);
    return page;
  }

  /** A token may be refused before its time: its account was disabled, or the keys that sign were replaced. */
  async #isGood(tokens: SessionTokens): Promise<boolean> {
    return isFresh(tokens) && (await this.#options.principals.find(tokens.accessToken)) !== null;
  }

  /** What comes in the place of tokens that are no longer good. Null if the sign-in has ended. */
  #renewed(stored: StoredSession, spent: SessionTokens): Promise<SessionTokens | null> {
    const name = stored.idHash.toString("hex");
    const renewal = this.#renewals.get(name) ?? this.#renew(stored, spent).finally(() => this.#renewals.delete(name));
    this.#renewals.set(name, renewal);
    return renewal;
  }

  async #renew({ idHash }: StoredSession, spent: SessionTokens): Promise<SessionTokens | null> {
    const { rows, provider } = this.#options;
    for (const end = Date.now() + renewalMs; !(await rows.beginRenewal(idHash, renewalMs)); ) {
      await new Promise((resolve) => setTimeout(resolve, pollMs));
      if (Date.now() > end) break;
    }
    const stored = await rows.find(idHash);
    const before = stored && this.#open(stored);
    if (!before) return null;
    let renewed: SessionTokens | null = null;
    try {
      // Another server may have done it.
      if (isFresh(before) && before.accessToken !== spent.accessToken) renewed = before;
      else if (before.refreshToken !== null) renewed = await provider.renew(before.refreshToken);
      if (renewed === null) await rows.remove(idHash);
      return renewed;
    } finally {
      await rows.endRenewal(idHash, renewed && this.#seal(renewed, idHash));
    }
  }

  #seal(tokens: SessionTokens, idHash: Buffer): Buffer {
    return this.#options.sealing.seal(JSON.stringify(tokens), contextOf(idHash));
  }

  /** Null if they were sealed with another key. */
  #open({ tokens, idHash }: StoredSession): SessionTokens | null {
    const text = this.#options.sealing.open(tokens, contextOf(idHash));
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
