import { NoAnswerError } from "@berth/client";

// Who is signed in. The access token is in this page's memory; what outlives a reload is a cookie that only the service
// sees.

/** A token that is good for less than this is replaced first. */
const renewBeforeMs = 60_000;

interface Token {
  accessToken: string;
  expiresAt: string;
}

let token: Token | null = null;
let asking: Promise<Token | null> | null = null;

/** The access token; null if nobody is signed in. Throws `NoAnswerError`, which the client takes as its own. */
export async function accessToken(): Promise<string | null> {
  if (!token || Date.parse(token.expiresAt) - Date.now() < renewBeforeMs) {
    asking ??= ask().finally(() => {
      asking = null;
    });
    token = await asking;
  }
  return token?.accessToken ?? null;
}

async function ask(): Promise<Token | null> {
  const response = await fetch("/dashboard/session", { method: "POST" }).catch(() => null);
  if (response?.status === 401) return null;
  if (!response?.ok) throw new NoAnswerError("The service is not responding. It is asked again.");
  return (await response.json()) as Token;
}

/** The service refused the token: the account was signed out elsewhere, or disabled. The next request asks anew. */
export function tokenRefused(): void {
  token = null;
}

/** Leaves for the identity provider's page, which leads back here. */
export function goToSignIn(): void {
  const { pathname, search } = location;
  const to = pathname.startsWith("/-/") && !pathname.startsWith("/-/signed-out") ? pathname + search : "/-/";
  location.assign(`/dashboard/sign-in?${new URLSearchParams({ to })}`);
}

/** Signs out, in this browser or in all of the account's. Throws `NoAnswerError`. */
export async function signOut(everywhere: boolean): Promise<void> {
  const init = { method: "DELETE" };
  const response = await fetch(`/dashboard/session?everywhere=${everywhere}`, init).catch(() => null);
  if (!response?.ok) throw new NoAnswerError("The service is not responding. You are still signed in.");
  const { signOutUrl } = (await response.json()) as { signOutUrl: string | null };
  token = null;
  location.assign(signOutUrl ?? "/-/signed-out");
}
