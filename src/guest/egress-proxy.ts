import {
  createServer,
  type IncomingMessage,
  request as makeRequest,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { Socket } from "node:net";
import { type Duplex, duplexPair } from "node:stream";
import { pipeline } from "node:stream/promises";
import { verdictHeader } from "../contract/guest.ts";
import type { Downloads } from "./downloads.ts";
import type { Refused, Uplink } from "./uplink.ts";

/** Headers that apply to a single connection (RFC 9110, 7.6.1). `expect` has been handled here. */
const hopByHop = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "expect",
]);

/**
 * The guest's HTTP proxy. Each CONNECT, and each request to an `http://` URL, becomes a tunnel on the uplink. The
 * server decides where it leads and whether it is allowed.
 */
export function listenEgressProxy(uplink: Uplink, downloads: Downloads, port: number): Server {
  const server = createServer((request, response) => void forward(uplink, request, response));
  server.on("connect", (request, socket, head) => void tunnel({ uplink, downloads }, request, socket as Socket, head));
  server.requestTimeout = 0;
  return server.listen(port, "127.0.0.1");
}

/** `CONNECT HOST:PORT`: carries bytes in both directions. */
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
  stream.setMaxListeners(20); // Two pipelines have many.
  // Before a pipeline ends the socket, which the program would take for the end of what it receives.
  for (const event of ["aborted", "error", "close"])
    stream.once(event, () => {
      if (!stream.readableEnded) socket.resetAndDestroy();
    });
  const ways = await Promise.allSettled([pipeline(socket, stream), downloads.carry(name, stream, socket)]);
  if (ways.some(({ status }) => status === "rejected")) socket.resetAndDestroy();
}

/** A request to `http://HOST[:PORT]/…`: sent on its own tunnel, with the answer streamed back. */
async function forward(uplink: Uplink, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = URL.canParse(request.url ?? "") ? new URL(request.url!) : null;
  if (url?.protocol !== "http:") {
    const text = "This is a proxy: it takes CONNECT HOST:PORT, and requests to http:// addresses.";
    return refuse(response, { status: 400, word: "request_invalid", text });
  }
  const opened = await uplink.tunnel(`${url.hostname}:${url.port || 80}`, goneOf(response));
  if (!("stream" in opened)) return refuse(response, opened);
  const { stream } = opened;
  response.on("close", () => stream.destroy());
  // Not on the stream itself: Node (24.21) would send freed memory instead of the head, which its HTTP client writes as
  // a string. The pair turns it into bytes.
  const [near, far] = duplexPair();
  Promise.all([pipeline(far, stream), pipeline(stream, far)]).catch((error: Error) => near.destroy(error));
  const headers = passed(request);
  headers.push("host", url.host, "connection", "close");
  if (request.headers["transfer-encoding"]) headers.push("transfer-encoding", "chunked");
  const asked = makeRequest({
    createConnection: () => near,
    method: request.method,
    path: `${url.pathname}${url.search}`,
    headers,
    setHost: false,
  });
  const failed = () => {
    const text = "The server broke the connection off before it answered.";
    if (response.headersSent) response.destroy();
    else refuse(response, { status: 502, word: "reset", text });
  };
  asked.on("response", (answer) => {
    try {
      response.writeHead(answer.statusCode!, answer.statusMessage, passed(answer));
    } catch {
      // The server may send an invalid answer: a status of 99, or a line with control characters.
      answer.destroy();
      return failed();
    }
    // A broken answer breaks this one too.
    pipeline(answer, response).catch(() => response.destroy());
  });
  asked.on("error", failed);
  // A server that switches protocols unasked ends without an error.
  asked.on("close", () => {
    if (!response.headersSent) failed();
  });
  request.pipe(asked);
}

/** A message's raw headers, as alternating names and values, without those of its connection. */
function passed({ rawHeaders, headers }: IncomingMessage): string[] {
  const named = (headers.connection ?? "").split(",").map((name) => name.trim().toLowerCase());
  const left = new Set([...hopByHop, ...named, "host"]);
  const kept: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (!left.has(rawHeaders[at]!.toLowerCase())) kept.push(rawHeaders[at]!, rawHeaders[at + 1]!);
  }
  return kept;
}

function refuse(response: ServerResponse, { status, word, text }: Refused): void {
  if (response.destroyed) return;
  const headers = { "content-type": "text/plain; charset=utf-8", [verdictHeader]: word };
  // Set explicitly, or the status text of the undeliverable answer is used.
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

function goneOf(end: Duplex | ServerResponse): AbortSignal {
  const gone = new AbortController();
  end.once("close", () => gone.abort());
  return gone.signal;
}
