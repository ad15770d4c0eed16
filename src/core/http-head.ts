import type { ServerResponse } from "node:http";

/** The largest head of a forwarded response, in bytes. Node's own limit is 16 KiB. */
export const maximumHeadBytes = 256 * 1024;

/** Headers of a single connection (RFC 9110, 7.6.1), which are not forwarded, in small letters. */
export const connectionHeaders: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Headers that `connection` cannot name: without them, the message has another meaning. */
export const messageHeaders: ReadonlySet<string> = new Set([
  "content-length",
  "cookie",
  "host",
  "origin",
  "set-cookie",
]);

/**
 * Describes an answer that Node's HTTP parser, or its check of headers, rejects; null for another error. `whose`:
 * `The server's`.
 */
export function answerFault(error: unknown, whose: string, maximumBytes = maximumHeadBytes): string | null {
  const { code = "", message } = error as NodeJS.ErrnoException;
  if (code === "HPE_HEADER_OVERFLOW") return `${whose} headers are larger than ${maximumBytes / 1024} KiB.`;
  if (/^(HPE|ERR_HTTP|ERR_INVALID)_/.test(code)) return `${whose} answer is not valid HTTP: ${message}.`;
  return null;
}

const nothing = Buffer.alloc(0);

/**
 * Sends a response's head now, without waiting for its body. `flushHeaders` would write it as UTF-8 (Node 24.21), although
 * Node reads the bytes of headers as Latin-1.
 */
export function flushHead(response: ServerResponse): void {
  response.write(nothing);
}
