import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import { type ErrorCode, errorStatuses } from "../contract/errors.ts";

/** The message for a visitor in place of a page. */
export interface Notice {
  status: number;
  code: ErrorCode | "share_ended" | "sign_in_required" | "preview_not_found";
  title: string;
  text: string;
  /** The browser asks again after as many seconds. */
  retrySeconds?: number;
}

/** For a host that no port of an agent can have. */
export const notFound: Notice = {
  status: 404,
  code: "preview_not_found",
  title: "There is nothing here",
  text: "No agent has this address.",
};

/** Also where there is no such agent: nothing tells the two apart. */
export function signInRequired(port: number): Notice {
  return {
    status: 401,
    code: "sign_in_required",
    title: "This page is private",
    text: `Its owner opens it with: berth open AGENT ${port}`,
  };
}

export const shareEnded: Notice = {
  status: 410,
  code: "share_ended",
  title: "This link has ended",
  text: "It has expired, or its owner has removed it. Ask for another.",
};

export const ticketUsed: Notice = {
  status: 401,
  code: "credentials_invalid",
  title: "This link was for once",
  text: "It was used before, or is older than 30 seconds. Run berth open again.",
};

export const foreign: Notice = {
  status: 403,
  code: "forbidden",
  title: "Not from another page",
  text: "A page of another origin may not use this one.",
};

export const tooManyRequests: Notice = {
  status: errorStatuses.rate_limited,
  code: "rate_limited",
  title: "Too much at once",
  text: "Too many requests for these pages are under way.",
  retrySeconds: 2,
};

export function notListening(port: number): Notice {
  return {
    status: errorStatuses.port_not_listening,
    code: "port_not_listening",
    title: `Nothing listens on port ${port} yet`,
    text: "The page appears when its program does: this one asks again every two seconds.",
    retrySeconds: 2,
  };
}

/** Answers with a notice: a page for a browser, JSON for a program. */
export function sendNotice(request: IncomingMessage, response: ServerResponse, notice: Notice, framer: string): void {
  if (response.headersSent) return void response.destroy();
  const isPage = String(request.headers.accept).includes("text/html");
  const { status, code, title, text, retrySeconds } = notice;
  response.statusCode = status;
  response.statusMessage = STATUS_CODES[status] ?? "";
  response.setHeader("content-type", isPage ? "text/html; charset=utf-8" : "application/json; charset=utf-8");
  response.setHeader("cache-control", "no-store");
  response.setHeader("referrer-policy", "no-referrer");
  response.setHeader("cross-origin-resource-policy", "same-origin");
  response.setHeader("x-content-type-options", "nosniff");
  response.setHeader(
    "content-security-policy",
    `default-src 'none'; style-src 'unsafe-inline'; frame-ancestors ${framer}`,
  );
  if (retrySeconds !== undefined) response.setHeader("retry-after", String(retrySeconds));
  // The rest of the body is not read.
  if (!request.complete) response.setHeader("connection", "close");
  response.end(isPage ? pageOf(notice) : `${JSON.stringify({ error: { code, message: `${title}. ${text}` } })}\n`);
}

function pageOf({ title, text, retrySeconds }: Notice): string {
  const retry = retrySeconds === undefined ? "" : `<meta http-equiv="refresh" content="${retrySeconds}">`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
${retry}
<title>${escaped(title)} · Berth</title>
<style>
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { max-width: 32rem; margin: 20vh auto; padding: 0 1.5rem; }
  h1 { font-size: 1.4rem; }
</style>
<h1>${escaped(title)}</h1>
<p>${escaped(text)}</p>
<p><small>Berth</small></p>
</html>
`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
