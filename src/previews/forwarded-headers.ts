import type { IncomingMessage } from "node:http";
import { connectionHeaders, messageHeaders } from "../core/http-head.ts";
import { notLeadingHeader, passportHeader } from "../hosts/passing/passport.ts";
import { hostOnly, withoutSessions } from "./session-cookie.ts";

/** Headers that a client may not set. `expect` has been answered already. */
const ofClient = new Set(["expect", "forwarded", "x-real-ip", passportHeader]);

/**
 * Headers that a page may not set: who else may read it, its other addresses, site data for the complete domain,
 * reporting, and headers between servers.
 */
const ofPage = new Set([
  notLeadingHeader,
  "alt-svc",
  "clear-site-data",
  "nel",
  "report-to",
  "reporting-endpoints",
  "strict-transport-security",
  "cross-origin-resource-policy",
  "origin-agent-cluster",
]);

/**
 * The headers of a request as the program in the machine gets them, as a flat list of names and values. `upgrade`: the
 * protocol to change to; null for an ordinary request.
 */
export function requestHeaders(request: IncomingMessage, isSecure: boolean, upgrade: string | null): string[] {
  const headers = remaining(request).flatMap(([name, value]) => {
    const lower = name.toLowerCase();
    if (ofClient.has(lower) || lower.startsWith("x-forwarded-")) return [];
    if (lower !== "cookie") return [name, value];
    const own = withoutSessions(value);
    return own === null ? [] : [name, own];
  });
  headers.push("X-Forwarded-Host", request.headers.host ?? "", "X-Forwarded-Proto", isSecure ? "https" : "http");
  if (request.headers["transfer-encoding"] !== undefined) headers.push("Transfer-Encoding", "chunked");
  return upgrade === null
    ? [...headers, "Connection", "close"]
    : [...headers, "Connection", "Upgrade", "Upgrade", upgrade];
}

/**
 * The headers of an answer as the browser gets them: for this origin, and for frames in pages of the origin `framer`. A flat
 * list of names and values.
 */
export function responseHeaders(answer: IncomingMessage, framer: string): string[] {
  // Chunks have their own lengths, even if a careless program also sends content-length.
  const isChunked = answer.headers["transfer-encoding"] !== undefined;
  const headers = remaining(answer).flatMap(([name, value]) => {
    const lower = name.toLowerCase();
    if (isChunked && lower === "content-length") return [];
    if (ofPage.has(lower) || lower.startsWith("access-control-")) return [];
    if (lower !== "set-cookie") return [name, value];
    const own = hostOnly(value);
    return own === null ? [] : [name, own];
  });
  // A second policy only adds to the page's own. A browser on a connection without TLS does not say who embeds a page.
  const framing = ["Content-Security-Policy", `frame-ancestors 'self' ${framer}`];
  return [...headers, ...framing, "Cross-Origin-Resource-Policy", "same-origin", "Origin-Agent-Cluster", "?1"];
}

/** All headers except those of the connection, and those that it names as such. */
function remaining({ rawHeaders, headers }: IncomingMessage): [name: string, value: string][] {
  const named = (headers.connection ?? "").split(",").map((name) => name.trim().toLowerCase());
  const dropped = new Set([...connectionHeaders, ...named.filter((name) => !messageHeaders.has(name))]);
  const pairs: [string, string][] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (!dropped.has(name.toLowerCase())) pairs.push([name, rawHeaders[at + 1]!]);
  }
  return pairs;
}
