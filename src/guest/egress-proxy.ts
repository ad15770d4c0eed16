import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  request as makeRequest,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { ClientHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { type Duplex, duplexPair } from "node:stream";
import { pipeline } from "node:stream/promises";
import { verdictHeader } from "../contract/guest.ts";
import { answerFault, connectionHeaders, flushHead, maximumHeadBytes } from "../core/http-head.ts";
import type { Downloads } from "./downloads.ts";
import type { Refused, Uplink } from "./uplink.ts";

/**
 * The guest's HTTP proxy. Each CONNECT, and each request to an `http://` URL, becomes a tunnel on the uplink. The
 * server decides where it leads and whether it is allowed.
 */
export function listenEgressProxy(uplink: Uplink, downloads: Downloads, port: number): Server {
  const options = {
    // A request that offers another protocol is an ordinary one (RFC 9110, 7.8).
    shouldUpgradeCallback: ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === "websocket",
  };
  const server = createServer(options, (request, response) => void forward(uplink, request, response));
  server.on("upgrade", (request, socket, head) => void upgrade(uplink, request, socket as Socket, head));
  server.on("connect", (request, socket, head) => void tunnel({ uplink, downloads }, request, socket as Socket, head));
  server.requestTimeout = 0;
  return server.listen(port, "127.0.0.1");
}

async function tunnel(
  { uplink, downloads }: { uplink: Uplink; downloads: Downloads },
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
): Promise<void> {
  const gone = goneOf(socket);
  const name = downloads.name();
  socket.on("error", () => {});
  const opened = await uplink.tunnel(request.url ?? "", gone, name);
  if (socket.destroyed) return void ("stream" in opened && opened.stream.destroy());
  if (!("stream" in opened)) return void socket.end(responseText(opened));
  const { stream } = opened;
  socket.setNoDelay(true);
  socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
  if (head.length > 0) stream.write(head);
  stream.setMaxListeners(20); // Two pipelines add many listeners. A pipeline's own end of the socket would look like the end of the data.
  for (const event of ["aborted", "error", "close"])
    stream.once(event, () => {
      if (!stream.readableEnded) socket.resetAndDestroy();
    });
  const ways = await Promise.allSettled([pipeline(socket, stream), downloads.carry(name, stream, socket)]);
  if (ways.some(({ status }) => status === "rejected")) socket.resetAndDestroy();
}

interface Target {
  authority: string;
  /** As a URL's `host`, for the header. */
  host: string;
  /** As the program wrote it: a server may distinguish `/a/../b` or `%27` from their normalized forms. */
  path: string;
}

/** Null for a request that this proxy rejects. */
function targetOf({ url: given = "" }: IncomingMessage): Target | null {
  const [, rest] = /^(?:http|ws):\/\/[^/?#]*([^#]*)/i.exec(given) ?? [];
  if (rest === undefined || !URL.canParse(given)) return null;
  const { hostname, host, port } = new URL(given);
  return { authority: `${hostname}:${port || 80}`, host, path: rest.startsWith("/") ? rest : `/${rest}` };
}

const noTarget: Refused = {
  status: 400,
  word: "request_invalid",
  text: "This is a proxy: it takes CONNECT HOST:PORT, and requests to http:// addresses.",
};

/** A request to `http://HOST[:PORT]/…`: sent on its own tunnel; the response is streamed back. */
async function forward(uplink: Uplink, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const target = targetOf(request);
  if (!target) return refuse(response, noTarget);
  const opened = await uplink.tunnel(target.authority, goneOf(response));
  if (!("stream" in opened)) return refuse(response, opened);
  const { stream } = opened;
  response.on("close", () => endTunnel(stream, response.writableFinished));
  const headers = [...passed(request), "host", target.host, "connection", "close"];
  const { "transfer-encoding": encoding, "content-length": length } = request.headers;
  if (encoding) headers.push("transfer-encoding", "chunked");
  // Otherwise Node would send an empty chunked body.
  else if (length === undefined && methodsWithBody.has(request.method!)) headers.push("content-length", "0");
  const asked = ask(request, target, headers, stream);
  const failed = (error: Error) => {
    if (response.headersSent) response.destroy();
    else refuse(response, { status: 502, word: "reset", text: reasonOf(error) });
  };
  asked.on("response", (answer) => {
    try {
      response.writeHead(answer.statusCode!, answer.statusMessage, passed(answer));
    } catch (error) {
      // The server may send an invalid answer: a status of 99, or a line with control characters.
      answer.destroy();
      return failed(error as Error);
    }
    flushHead(response);
    pipeline(answer, response).catch(() => response.destroy());
  });
  asked.on("error", failed);
  // A server that switches protocols unasked ends without an error.
  asked.on("close", () => {
    if (!response.headersSent) failed(new Error("there was no answer"));
  });
  request.pipe(asked);
}

/** A WebSocket request to `http://HOST[:PORT]/…`. Its bytes pass unchanged. */
async function upgrade(uplink: Uplink, request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
  socket.on("error", () => {});
  const target = targetOf(request);
  if (!target) return void socket.end(responseText(noTarget));
  const opened = await uplink.tunnel(target.authority, goneOf(socket));
  if (socket.destroyed) return void ("stream" in opened && opened.stream.destroy());
  if (!("stream" in opened)) return void socket.end(responseText(opened));
  const { stream } = opened;
  socket.once("close", () => endTunnel(stream, socket.writableFinished));
  const headers = [...passed(request), "host", target.host, "connection", "Upgrade", "upgrade", "websocket"];
  const asked = ask(request, target, headers, stream);
  asked.on("upgrade", (answer, server, rest) => {
    socket.write(headText(answer, answer.rawHeaders), "latin1");
    if (rest.length > 0) socket.write(rest);
    if (head.length > 0) server.write(head);
    Promise.all([pipeline(socket, server), pipeline(server, socket)]).catch(() => socket.destroy());
  });
  asked.on("response", (answer) => {
    // The body is not chunked here, so it ends with the connection.
    socket.write(headText(answer, [...passed(answer), "connection", "close"]), "latin1");
    pipeline(answer, socket).catch(() => socket.destroy());
  });
  asked.on("error", (error) => {
    if (socket.bytesWritten > 0) socket.destroy();
    else socket.end(responseText({ status: 502, word: "reset", text: reasonOf(error) }));
  });
  asked.end();
}

/** Methods whose requests state an empty body (RFC 9110, 8.6). */
const methodsWithBody = new Set(["POST", "PUT", "PATCH"]);

/** Sends a request on its own tunnel. The caller sends the body. */
function ask(request: IncomingMessage, { path }: Target, headers: string[], stream: ClientHttp2Stream): ClientRequest {
  // Not on the stream itself: Node (24.21) would send freed memory instead of the head, which its HTTP client writes as
  // a string. The pair converts it to bytes. No pipeline: the client destroys its end as soon as it has the answer,
  // which must not break the tunnel.
  const [near, far] = duplexPair();
  far.on("error", () => {});
  far.pipe(stream, { end: false });
  stream.pipe(far);
  stream.on("error", (error) => near.destroy(error));
  stream.once("close", () => {
    if (!stream.readableEnded) near.destroy(new Error("the tunnel was broken off"));
  });
  return makeRequest({
    createConnection: () => near,
    method: request.method,
    path,
    headers,
    setHost: false,
    // The connection carries one response, so a malformed one can confuse no other.
    insecureHTTPParser: true,
    maxHeaderSize: maximumHeadBytes,
  });
}

/** How long a server may take to end its side of a tunnel after its response. */
const endMs = 10_000;

function endTunnel(stream: ClientHttp2Stream, isWhole: boolean): void {
  if (!isWhole || stream.closed) return void stream.destroy();
  stream.end();
  stream.resume();
  const late = setTimeout(() => stream.destroy(), endMs);
  stream.once("close", () => clearTimeout(late));
}

function reasonOf(error: Error): string {
  return answerFault(error, "The server's") ?? "The server broke the connection off before it answered.";
}

function headText({ statusCode, statusMessage }: IncomingMessage, rawHeaders: readonly string[]): string {
  const lines = rawHeaders.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`));
  return `HTTP/1.1 ${statusCode} ${statusMessage}\r\n${lines.join("")}\r\n`;
}

/** A message's raw headers, as alternating names and values, without those of its connection. */
function passed({ rawHeaders, headers }: IncomingMessage): string[] {
  const named = (headers.connection ?? "").split(",").map((name) => name.trim().toLowerCase());
  // Chunks have their own lengths, even if a careless server also sends content-length.
  const lengths = headers["transfer-encoding"] === undefined ? [] : ["content-length"];
  const left = new Set([...connectionHeaders, "expect", ...named, ...lengths, "host"]);
  const kept: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (!left.has(rawHeaders[at]!.toLowerCase())) kept.push(rawHeaders[at]!, rawHeaders[at + 1]!);
  }
  return kept;
}

function refuse(response: ServerResponse, { status, word, text }: Refused): void {
  if (response.destroyed) return;
  const headers = { "content-type": "text/plain; charset=utf-8", [verdictHeader]: word };
  // Set explicitly, or Node uses the status text of the undeliverable answer.
  response.writeHead(status, STATUS_CODES[status], headers);
  response.end(`${text.trimEnd()}\n`);
}

/** An answer to CONNECT, which Node does not write itself. */
function responseText({ status, word, text }: Refused): string {
  const body = `${text.trimEnd()}\n`;
  const lines = [
    `HTTP/1.1 ${status} ${word}`,
    "Content-Type: text/plain; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `${verdictHeader}: ${word}`,
    "Connection: close",
  ];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}

/** Aborted when the program disconnects before it has the whole answer. */
function goneOf(end: Duplex | ServerResponse): AbortSignal {
  const gone = new AbortController();
  end.once("close", () => {
    if (!end.writableFinished) gone.abort();
  });
  return gone.signal;
}
