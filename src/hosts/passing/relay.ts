import {
  type ClientRequest,
  request as httpRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import { connectionHeaders, flushHead, maximumHeadBytes, messageHeaders } from "../../core/http-head.ts";
import { notLeadingHeader } from "./passport.ts";

/** The timeout for connecting to the other server. */
const connectMs = 2_000;

/** Headers that are not forwarded. `expect` was handled by this server. */
const neverForwarded = new Set([...connectionHeaders, "expect"]);

/** Headers that this server and the other each set themselves. */
const ofBoth = new Set(["ratelimit", "ratelimit-policy"]);

/** A request to forward, once or repeatedly. */
export interface Passage {
  request: IncomingMessage;
  response: ServerResponse;
  isUpgrade: boolean;
  /** This server's response headers in addition to the other's. */
  answerHeaders: () => OutgoingHttpHeaders;
  /** Called when the answer begins: from then on the response is the other server's. */
  begun: () => void;
}

/**
 * `answered`: the client has the other server's complete response. `refused`: the other server did nothing. `unknown`:
 * the connection broke before a response, so the request may have been handled.
 */
export type PassageEnd = "answered" | "refused" | "unknown";

/**
 * Sends a request to the server at `url` and streams the response back. `body`: the complete body; null streams it,
 * once.
 */
export async function relay(
  url: string,
  passage: Passage,
  body: Buffer | null,
  passport: Record<string, string>,
): Promise<PassageEnd> {
  const { request, response } = passage;
  const { hostname, port } = new URL(url);
  const sent = httpRequest({
    host: hostname.replace(/^\[(.*)\]$/, "$1"),
    port: port === "" ? 80 : port,
    method: request.method,
    path: request.url,
    headers: { ...requestHeaders(passage, body), ...passport },
    // A preview's head may have the limit's size, and the other server adds its own headers.
    maxHeaderSize: 2 * maximumHeadBytes,
    // The other server may be closing an idle connection at this moment.
    agent: false,
  });
  const gone = () => sent.destroy();
  // The parts of a request that wait for its end, with those of a pipeline, are more than Node's ten.
  response.setMaxListeners(20);
  response.once("close", gone);
  try {
    if (!(await connected(sent))) return "refused";
    if (body) sent.end(body);
    // The response may arrive before the body has ended.
    else pipeline(request, sent).catch(() => {});
    const answer = await answerTo(sent);
    if (answer === null) return response.closed ? "answered" : "unknown";
    if (answer.message.headers[notLeadingHeader] !== undefined) return "refused";
    passage.begun();
    if (answer.socket) await tunnel(request.socket, response, answer.message, answer.socket);
    else await pipeline(answer.message, withHeaders(passage, answer.message)).catch(() => response.destroy());
    return "answered";
  } finally {
    response.off("close", gone);
    sent.destroy();
  }
}

/** Whether the other server takes the connection. Before that nothing was sent. */
function connected(sent: ClientRequest): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => sent.destroy(), connectMs);
    const settle = (isConnected: boolean) => {
      clearTimeout(timer);
      resolve(isConnected);
    };
    sent.on("error", () => settle(false));
    sent.once("close", () => settle(false));
    sent.once("socket", (socket: Socket) => {
      if (socket.connecting) socket.once("connect", () => settle(true));
      else settle(true);
    });
  });
}

/** Null if the connection ends before a response. `socket`: the connection after a protocol upgrade. */
function answerTo(sent: ClientRequest): Promise<{ message: IncomingMessage; socket: Duplex | null } | null> {
  return new Promise((resolve) => {
    sent.once("response", (message) => resolve({ message, socket: null }));
    sent.once("upgrade", (message, socket, head) => {
      if (head.length > 0) socket.unshift(head);
      resolve({ message, socket });
    });
    sent.once("close", () => resolve(null));
  });
}

function requestHeaders({ request, isUpgrade }: Passage, body: Buffer | null): OutgoingHttpHeaders {
  const dropped = droppedOf(request);
  const kept = Object.entries(request.headers).filter(([name]) => !dropped.has(name));
  const headers: OutgoingHttpHeaders = Object.fromEntries(kept);
  if (isUpgrade) return { ...headers, connection: "Upgrade", upgrade: "websocket" };
  const hasBody = request.method !== "GET" && request.method !== "HEAD";
  return hasBody && body ? { ...headers, "content-length": String(body.length) } : headers;
}

/** The hop-by-hop headers, including those that `connection` names. */
function droppedOf({ headers }: IncomingMessage): ReadonlySet<string> {
  const named = (headers.connection ?? "").split(",").map((name) => name.trim().toLowerCase());
  return new Set([...neverForwarded, ...named.filter((name) => !messageHeaders.has(name))]);
}

/** Sends the answer's headers at once: a stream may never end. */
function withHeaders({ response, answerHeaders, isUpgrade }: Passage, answer: IncomingMessage): ServerResponse {
  for (const [name, value] of Object.entries(answerHeaders())) if (value !== undefined) response.setHeader(name, value);
  const dropped = droppedOf(answer);
  for (const [name, values] of Object.entries(answer.headersDistinct)) {
    if (dropped.has(name)) continue;
    const own = ofBoth.has(name) ? response.getHeader(name) : undefined;
    response.setHeader(name, own === undefined ? values! : `${own}, ${values!.join(", ")}`);
  }
  if (isUpgrade) response.setHeader("connection", "close");
  response.writeHead(answer.statusCode!);
  flushHead(response);
  return response;
}

/** Joins the two connections, whatever their protocol. */
async function tunnel(client: Socket, response: ServerResponse, answer: IncomingMessage, leader: Duplex) {
  response.detachSocket(client);
  const lines = [];
  for (let at = 0; at < answer.rawHeaders.length; at += 2) {
    lines.push(`${answer.rawHeaders[at]}: ${answer.rawHeaders[at + 1]}\r\n`);
  }
  client.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join("")}\r\n`, "latin1");
  client.setTimeout(0);
  client.setNoDelay(true);
  await Promise.allSettled([pipeline(client, leader), pipeline(leader, client)]);
}
