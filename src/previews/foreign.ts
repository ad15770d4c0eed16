import type { IncomingMessage } from "node:http";
import { isOriginOf } from "../core/http/origins.ts";

/**
 * Whether a page of another origin makes this request, with the visitor's cookie: by Fetch Metadata
 * (https://www.w3.org/TR/fetch-metadata/), or by `origin` in what sends none. Another site may send a visitor here, by a
 * link in a window of its own. It may not fetch, embed or post.
 */
export function isForeign({ headers, method }: IncomingMessage): boolean {
  const { "sec-fetch-site": site, "sec-fetch-mode": mode, "sec-fetch-dest": destination, origin, host } = headers;
  if (site === "cross-site" || site === "same-site") {
    return !(mode === "navigate" && destination === "document" && (method === "GET" || method === "HEAD"));
  }
  return origin !== undefined && !isOriginOf(origin, host);
}

/** Whether a browser navigates a frame to this page. */
export function isFrame({ headers, method }: IncomingMessage): boolean {
  const { "sec-fetch-mode": mode, "sec-fetch-dest": destination } = headers;
  return mode === "navigate" && destination === "iframe" && method === "GET";
}
