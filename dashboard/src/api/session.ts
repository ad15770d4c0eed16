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

/** The access token; null if nobody is signed in. Throws a `TypeError` if the service does not answer. */
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
  const response = await fetch("/dashboard/session", { method: "POST" });
  if (response.status === 401) return null;
  if (!response.ok) throw new TypeError(`the service answered ${response.status}`);
  return (await response.json()) as Token;
}

/** Leaves for the identity provider's page, which leads back here. */
export function goToSignIn(): void {
  const { pathname, search } = location;
  const to = pathname.startsWith("/-/") && !pathname.startsWith("/-/signed-out") ? pathname + search : "/-/";
  location.assign(`/dashboard/sign-in?${new URLSearchParams({ to })}`);
}

/** Signs out, in this browser or in all of the account's. */
export async function signOut(everywhere: boolean): Promise<void> {
  const response = await fetch(`/dashboard/session?everywhere=${everywhere}`, { method: "DELETE" });
  const { signOutUrl } = response.ok ? ((await response.json()) as { signOutUrl: string | null }) : { signOutUrl: null };
  token = null;
  location.assign(signOutUrl ?? "/-/signed-out");
}
