import { type ClientRequest, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import { flushHead, maximumHeadBytes } from "../core/http-head.ts";
import { requestHeaders, responseHeaders } from "./forwarded-headers.ts";
import type { PreviewHosts } from "./hosts.ts";

/** A client that asks for another protocol: its socket, and what it has sent already. */
export interface Upgrading {
  socket: Duplex;
  head: Buffer;
}

/**
 * Sends a request over `connection`, and the response back, both as they arrive. Both directions are parsed and
 * serialized again. Resolves when both have ended; rejects if there is no response.
 */
export async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  connection: Duplex,
  hosts: Pick<PreviewHosts, "isSecure" | "framer">,
  upgrading: Upgrading | null,
): Promise<void> {
  const upgrade = upgrading ? String(request.headers.upgrade) : null;
  const sent = httpRequest({
    createConnection: () => connection,
    method: request.method,
    path: request.url,
    // A flat list keeps what occurs twice.
    headers: requestHeaders(request, hosts.isSecure, upgrade) as unknown as Record<string, string>,
    maxHeaderSize: maximumHeadBytes,
    // The connection carries one response, which is serialized again, so a malformed one can confuse no other. The
    // headers of an upgrade are not checked again.
    insecureHTTPParser: upgrade === null,
  });
  response.on("close", () => sent.destroy());
  connection.on("error", (error) => sent.destroy(error));
  try {
    // The program may answer without reading the whole body, so a failed upload is not an error.
    pipeline(request, sent).catch(() => {});
    const answer = await answerTo(sent);
    if (answer.upgraded && !upgrading) throw new Error("the program has changed to a protocol that nobody asked for");
    if (upgrading && answer.upgraded) await tunnel(upgrading, answer.answer, answer.upgraded, hosts.framer);
    else await pipeline(answer.answer, withHeaders(response, answer.answer, hosts.framer));
  } finally {
    connection.destroy();
  }
}

interface Answer {
  answer: IncomingMessage;
  /** The connection, where the program has changed its protocol. */
  upgraded: Upgrading | null;
}

function answerTo(sent: ClientRequest): Promise<Answer> {
  return new Promise((resolve, reject) => {
    sent.once("response", (answer) => resolve({ answer, upgraded: null }));
    sent.once("upgrade", (answer, socket, head) => resolve({ answer, upgraded: { socket, head } }));
    sent.once("error", reject);
    sent.once("close", () => reject(new Error("the connection ended before an answer")));
  });
}

/** Omits the program's reason phrase: Node rejects some characters in it. */
function withHeaders(response: ServerResponse, answer: IncomingMessage, framer: string): ServerResponse {
  response.writeHead(answer.statusCode!, responseHeaders(answer, framer));
  flushHead(response);
  return response;
}

/** Joins the two connections, whatever they speak now. */
async function tunnel(client: Upgrading, answer: IncomingMessage, program: Upgrading, framer: string): Promise<void> {
  const headers = [
    ...responseHeaders(answer, framer),
    "Connection",
    "Upgrade",
    "Upgrade",
    String(answer.headers.upgrade),
  ];
  const lines = headers.flatMap((name, at) => (at % 2 === 0 ? `${name}: ${headers[at + 1]}\r\n` : []));
  client.socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join("")}\r\n`, "latin1");
  if (program.head.length > 0) client.socket.write(program.head);
  if (client.head.length > 0) program.socket.write(client.head);
  await Promise.all([pipeline(client.socket, program.socket), pipeline(program.socket, client.socket)]);
}
