import { cookiesIn, valuesOf } from "../core/http/cookies.ts";
import { sessionMs } from "./previews.ts";

/** The name of a visitor's cookie. With the prefix, a browser accepts it from this very host alone (RFC 6265bis). */
function cookieName(isSecure: boolean): string {
  return isSecure ? "__Host-berth-preview" : "berth-preview";
}

/** The name of the cookie of a frame in the dashboard. Browsers take it from `localhost` without TLS, too. */
function frameCookieName(isSecure: boolean): string {
  return isSecure ? "__Host-berth-preview-frame" : "berth-preview-frame";
}

/** All values of the visitor's cookies: a page of a neighbouring host may have added some. */
export function sessionsIn(header: string | undefined, isSecure: boolean): string[] {
  return [...valuesOf(header, cookieName(isSecure)).slice(0, 4), ...frameSessionsIn(header, isSecure)];
}

/** The values of the cookie of a frame in the dashboard. A browser sends it in such frames alone. */
export function frameSessionsIn(header: string | undefined, isSecure: boolean): string[] {
  return valuesOf(header, frameCookieName(isSecure)).slice(0, 4);
}

/** The cookies that are the page's own; null if there are none. */
export function withoutSessions(header: string): string | null {
  const others = cookiesIn(header).filter((cookie) => !isSession(cookie));
  return others.length > 0 ? others.join("; ") : null;
}

/** The header `set-cookie` for a visitor. */
export function sessionCookie(session: string, isSecure: boolean): string {
  const attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${sessionMs / 1000}${isSecure ? "; Secure" : ""}`;
  return `${cookieName(isSecure)}=${session}; ${attributes}`;
}

/** The header `set-cookie` for a visitor in a frame: of this top-level site alone (CHIPS). */
export function frameCookie(session: string, isSecure: boolean): string {
  const attributes = `Path=/; HttpOnly; Secure; SameSite=None; Partitioned; Max-Age=${sessionMs / 1000}`;
  return `${frameCookieName(isSecure)}=${session}; ${attributes}`;
}

/** A page's `set-cookie` for its own host alone; null if the page may not set it. */
export function hostOnly(setCookie: string): string | null {
  if (isSession(setCookie)) return null;
  const [pair, ...attributes] = setCookie.split(";");
  return [pair, ...attributes.filter((attribute) => !/^\s*domain\s*(=|$)/i.test(attribute))].join(";");
}

function isSession(cookie: string): boolean {
  const name = cookie.split("=")[0]!.trim().toLowerCase();
  return /^(__host-)?berth-preview(-frame)?$/.test(name);
}
