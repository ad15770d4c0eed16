import { NoAnswerError } from "@berth/client";

/** A token with less time left is renewed before it is used. */
const renewBeforeMs = 60_000;

interface Token {
  accessToken: string;
  expiresAt: string;
}

/**
 * The browser's sign-in. The access token is in this page's memory. A cookie that only the service can read survives a
 * reload.
 */
export class BrowserSession {
  #token: Token | null = null;
  #renewing: Promise<Token | null> | null = null;
  #isSigningOut = false;

  /** The access token; null if nobody is signed in. Throws `NoAnswerError`. */
  async accessToken(): Promise<string | null> {
    if (!this.#token || Date.parse(this.#token.expiresAt) - Date.now() < renewBeforeMs) {
      this.#renewing ??= renew().finally(() => {
        this.#renewing = null;
      });
      this.#token = await this.#renewing;
    }
    return this.#token?.accessToken ?? null;
  }

  /** Discards a token that the service refused: the account was signed out elsewhere, or disabled. */
  discard(): void {
    this.#token = null;
  }

  /** Opens the identity provider's page, which leads back here. A sign-out under way opens its own page instead. */
  signIn(): void {
    if (this.#isSigningOut) return;
    const { pathname, search } = location;
    const to = pathname.startsWith("/-/") && !pathname.startsWith("/-/signed-out") ? pathname + search : "/-/";
    location.assign(`/dashboard/sign-in?${new URLSearchParams({ to })}`);
  }

  /** Signs out in this browser, or in all of the account's. Throws `NoAnswerError`. */
  async signOut(everywhere: boolean): Promise<void> {
    this.#isSigningOut = true;
    const init = { method: "DELETE" };
    const response = await fetch(`/dashboard/session?everywhere=${everywhere}`, init).catch(() => null);
    if (!response?.ok) {
      this.#isSigningOut = false;
      throw new NoAnswerError("The service is not responding. You are still signed in.");
    }
    const { signOutUrl } = (await response.json()) as { signOutUrl: string | null };
    this.#token = null;
    location.assign(signOutUrl ?? "/-/signed-out");
  }
}

async function renew(): Promise<Token | null> {
  const response = await fetch("/dashboard/session", { method: "POST" }).catch(() => null);
  if (response?.status === 401) return null;
  if (!response?.ok) throw new NoAnswerError("The service is not responding. Retrying.");
  return (await response.json()) as Token;
}
