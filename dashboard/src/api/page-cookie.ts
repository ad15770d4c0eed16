const keptSeconds = 365 * 24 * 60 * 60;

/** Keeps a choice for the server, which draws the first page by it. Null removes it. */
export function keepPageCookie(name: string, value: string | null): void {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  const seconds = value === null ? 0 : keptSeconds;
  // biome-ignore lint/suspicious/noDocumentCookie: pages over plain HTTP have no CookieStore
  document.cookie = `${name}=${value ?? ""}; Path=/-/; SameSite=Strict; Max-Age=${seconds}${secure}`;
}
