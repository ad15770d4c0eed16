import { createHash, randomBytes } from "node:crypto";
import { Browser, type Page } from "./browser.ts";

export interface Tokens {
  access_token: string;
  refresh_token: string;
  id_token: string;
}

/** Sets the password through a one-time link. The first user also needs a name. */
export async function useLink(link: string, password: string, name?: string, browser = new Browser()): Promise<Page> {
  return browser.submit(await browser.get(link), { password, again: password, ...(name ? { name } : {}) });
}

/** The dashboard's sign-in page, or the dashboard's address if the browser is already signed in. */
export async function beginSignIn(url: string, browser: Browser): Promise<{ page: Page; verifier: string }> {
  const verifier = randomBytes(32).toString("base64url");
  const query = new URLSearchParams({
    client_id: "berth-dashboard",
    response_type: "code",
    redirect_uri: `${url}/`,
    scope: "openid",
    state: "the-state",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  return { page: await browser.get(`${url}/oidc/auth?${query}`), verifier };
}

/** Signs in to the dashboard and returns the tokens. */
export async function signIn(url: string, name: string, password: string, browser = new Browser()): Promise<Tokens> {
  const { page, verifier } = await beginSignIn(url, browser);
  const last = page.text === "" ? page : await browser.submit(page, { name, password });
  const code = new URL(last.url).searchParams.get("code");
  if (code === null) throw new Error(`no code: ${last.status} ${last.url} ${last.text}`);
  const { status, body } = await exchange(url, code, verifier);
  if (status !== 200) throw new Error(`no tokens: ${JSON.stringify(body)}`);
  return body;
}

export function exchange(url: string, code: string, verifier: string) {
  return tokenRequest(url, {
    grant_type: "authorization_code",
    client_id: "berth-dashboard",
    redirect_uri: `${url}/`,
    code,
    code_verifier: verifier,
  });
}

export function refresh(url: string, token: string, client = "berth-dashboard") {
  return tokenRequest(url, { grant_type: "refresh_token", client_id: client, refresh_token: token });
}

/** Calls the token endpoint, or another, and returns the JSON. */
export async function tokenRequest(url: string, fields: Record<string, string>, path = "/oidc/token") {
  const response = await fetch(url + path, { method: "POST", body: new URLSearchParams(fields) });
  const text = await response.text();
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
  return { status: response.status, body: (text === "" ? null : JSON.parse(text)) as any };
}
