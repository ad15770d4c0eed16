import type { IncomingMessage, ServerResponse } from "node:http";
import inject from "light-my-request";
import type { CustomFetch } from "openid-client";
import { signInPrefix } from "../contract/sign-in.ts";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Calls the built-in provider without the network, because the service may be unable to reach its own public address.
 */
export function fetchInProcess(issuer: () => string, answer: Answer): CustomFetch {
  return async (url, { method, headers, body }) => {
    const { pathname, search } = new URL(url);
    const path = signInPrefix + pathname.slice(new URL(issuer()).pathname.length) + search;
    const {
      statusCode,
      headers: given,
      rawPayload,
    } = await inject(answer as Parameters<typeof inject>[0], {
      method: method as "GET" | "POST",
      url: path,
      headers: Object.fromEntries(new Headers(headers)),
      ...(body === undefined || body === null ? {} : { payload: String(body) }),
    });
    const type = String(given["content-type"] ?? "");
    return new Response(rawPayload.length > 0 ? new Uint8Array(rawPayload) : null, {
      status: statusCode,
      headers: type ? { "content-type": type } : {},
    });
  };
}
