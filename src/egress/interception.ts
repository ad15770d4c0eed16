import { once } from "node:events";
import {
  Agent,
  createServer,
  type IncomingMessage,
  request as makeRequest,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from "node:http";
import type { Socket } from "node:net";
import { type Duplex, duplexPair } from "node:stream";
import { pipeline } from "node:stream/promises";
import { connect as connectTls, createSecureContext, type SecureContext, TLSSocket } from "node:tls";
import { parseAuthority } from "../contract/network-rules.ts";
import type { Destination } from "./policy.ts";
import { revealed, type Secret } from "./secrets.ts";

/** The first byte of a TLS connection: a handshake record (RFC 8446, 5.1). */
const handshake = 0x16;
/** The beginning of an HTTP/1.1 request. */
const method = /^[A-Z]{3,10}[ A-Z]/;

export interface InterceptionOptions {
  destination: Destination;
  /** The secrets that may go there. */
  secrets: readonly Secret[];
  /** The certificate that the machine takes for the host's. */
  certificate: () => Promise<{ certificate: string; key: string }>;
  /** Told of a request that could not be passed on. */
  warn: (message: string, error: unknown) => void;
}

/**
 * Stands between a program and a host that may have secrets: reads the program's requests, in HTTP/1.1 with TLS or
 * without, and makes them of the host with the secrets' values in their headers. What is neither passes as it is.
 * `dialled` leads to the host; `near` takes its place for whoever carries the tunnel. Nothing of what passes is kept.
 */
export function intercept(dialled: Socket, options: InterceptionOptions): Duplex {
  const [near, far] = duplexPair();
  void open(far, dialled, options).catch((error: unknown) => {
    if (!far.destroyed) options.warn("a connection with secrets failed", error);
    far.destroy();
    dialled.destroy();
  });
  dialled.once("close", () => far.end());
  near.once("close", () => far.destroy());
  far.once("close", () => dialled.destroy());
  return near;
}

async function open(program: Duplex, dialled: Socket, options: InterceptionOptions): Promise<void> {
  await once(program, "readable");
  const first = program.read() as Buffer | null;
  if (!first) return void dialled.end();
  program.unshift(first);
  if (first[0] === handshake) return openTls(program, dialled, options);
  if (method.test(first.toString("latin1", 0, 12))) return serve(program, dialled, options);
  await Promise.all([pipeline(program, dialled), pipeline(dialled, program)]);
}

/** TLS with the program, by the certificate that its machine trusts, and TLS with the host, by the world's. */
async function openTls(program: Duplex, dialled: Socket, options: InterceptionOptions): Promise<void> {
  const { host } = options.destination;
  const { certificate: cert, key } = await options.certificate();
  const secureContext: SecureContext = createSecureContext({ cert, key });
  const secure = new TLSSocket(program as Socket, { isServer: true, secureContext, ALPNProtocols: ["http/1.1"] });
  const upstream = connectTls({
    ...{ socket: dialled, ALPNProtocols: ["http/1.1"] },
    ...(host.kind === "name" ? { servername: host.text } : { host: host.text }),
  });
  secure.on("error", () => program.destroy());
  // A certificate that is not the host's ends all here: nothing was sent.
  upstream.on("error", () => secure.destroy());
  await once(upstream, "secureConnect");
  serve(secure, upstream, options);
}

/** Passes requests on, one after the other as they come on one connection. */
function serve(program: Duplex, host: Socket, options: InterceptionOptions): void {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  agent.createConnection = () => host;
  const server = createServer((request, response) => void pass(request, response, agent, options));
  server.on("upgrade", (request, socket, head) => upgrade(request, socket, head, agent, options));
  server.on("clientError", () => program.destroy());
  server.requestTimeout = 0;
  server.keepAliveTimeout = 0;
  host.once("close", () => program.end());
  program.once("close", () => host.destroy());
  server.emit("connection", program);
}

function pass(request: IncomingMessage, response: ServerResponse, agent: Agent, options: InterceptionOptions): void {
  if (!isFor(request, options.destination)) return void response.writeHead(421).end("Another host was asked for.\n");
  const asked = ask(request, agent, options);
  asked.on("response", (answer) => {
    response.writeHead(answer.statusCode!, answer.statusMessage, answer.rawHeaders as unknown as OutgoingHttpHeaders);
    pipeline(answer, response).catch(() => response.destroy());
  });
  asked.on("error", (error) => {
    if (response.headersSent) return void response.destroy();
    options.warn("a request with secrets was not answered", error);
    response.writeHead(502, { "content-type": "text/plain" }).end("The host broke the connection off.\n");
  });
  response.on("close", () => {
    if (!response.writableFinished) asked.destroy();
  });
  request.pipe(asked);
}

/** What becomes another protocol passes as it is from then on, WebSockets above all. */
function upgrade(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  agent: Agent,
  options: InterceptionOptions,
): void {
  if (!isFor(request, options.destination)) return void socket.destroy();
  const asked = ask(request, agent, options);
  asked.on("upgrade", (answer, upstream, rest) => {
    socket.write(headOf(answer));
    if (rest.length > 0) socket.write(rest);
    if (head.length > 0) upstream.write(head);
    Promise.all([pipeline(socket, upstream), pipeline(upstream, socket)]).catch(() => {});
  });
  asked.on("response", (answer) => {
    socket.write(headOf(answer));
    pipeline(answer, socket).catch(() => {});
  });
  asked.on("error", () => socket.destroy());
  asked.end();
}

/** Behind one address there may be many hosts: a secret of this one is sent to no other. */
function isFor({ headers }: IncomingMessage, { host, port }: Destination): boolean {
  const asked = parseAuthority(/:\d+$/.test(headers.host ?? "") ? headers.host! : `${headers.host}:${port}`);
  return asked?.host.text === host.text && asked.port === port;
}

function ask({ method, url, rawHeaders }: IncomingMessage, agent: Agent, { secrets }: InterceptionOptions) {
  const headers = revealed(rawHeaders, secrets);
  return makeRequest({ agent, method, path: url, headers, setHost: false });
}

function headOf({ statusCode, statusMessage, rawHeaders }: IncomingMessage): string {
  const lines = rawHeaders.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`));
  return `HTTP/1.1 ${statusCode} ${statusMessage}\r\n${lines.join("")}\r\n`;
}
