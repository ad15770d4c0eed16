import { once } from "node:events";
import {
  Agent,
  createServer,
  type IncomingMessage,
  request as makeRequest,
  type OutgoingHttpHeaders,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { Socket } from "node:net";
import { type Duplex, duplexPair } from "node:stream";
import { pipeline } from "node:stream/promises";
import { connect as connectTls, createSecureContext, type SecureContext, TLSSocket } from "node:tls";
import { parseAuthority } from "../contract/egress-rules.ts";
import { Concealment } from "./concealment.ts";
import type { Destination } from "./policy.ts";
import { type DestinationSecrets, revealed, type Secret } from "./secrets.ts";

/** The first byte of a TLS connection: a handshake record (RFC 8446, 5.1). */
const handshake = 0x16;
/** The beginning of an HTTP/1.1 request. */
const method = /^[A-Z]{3,10}[ A-Z]/;
/** So many requests may wait on one connection: each takes memory, and hardly any program sends one before its answer. */
const maximumWaiting = 16;

export interface InterceptionOptions {
  destination: Destination;
  /** The secrets that may go there; what may have none passes as it is. */
  secrets: DestinationSecrets;
  /** The certificate that the machine takes for the host's. */
  certificate: () => Promise<{ certificate: string; key: string }>;
  /** Told of a request that could not be passed on. */
  warn: (message: string, error: unknown) => void;
}

/** As `InterceptionOptions`, once it is known in what way the program speaks. */
interface ServingOptions extends Omit<InterceptionOptions, "secrets"> {
  secrets: readonly Secret[];
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
  near.once("close", () => far.destroy());
  far.once("close", () => dialled.destroy());
  return near;
}

async function open(program: Duplex, dialled: Socket, options: InterceptionOptions): Promise<void> {
  const early = () => void program.end();
  dialled.once("close", early);
  await once(program, "readable");
  dialled.off("close", early);
  if (dialled.destroyed) return void program.destroy();
  const first = program.read() as Buffer | null;
  if (!first) return void dialled.end();
  program.unshift(first);
  const { tls, plain } = options.secrets;
  if (first[0] === handshake && tls.length > 0) return openTls(program, dialled, options);
  const isRequest = method.test(first.toString("latin1", 0, 12));
  if (isRequest && plain.length > 0) return serve(program, dialled, { ...options, secrets: plain });
  await Promise.all([pipeline(program, dialled), pipeline(dialled, program)]);
}

/** TLS with the program, by the certificate that its machine trusts, and TLS with the host, by the world's. */
async function openTls(program: Duplex, dialled: Socket, options: InterceptionOptions): Promise<void> {
  const { host } = options.destination;
  const { certificate: cert, key } = await options.certificate();
  const secureContext: SecureContext = createSecureContext({ cert, key });
  const secure = new TLSSocket(program as Socket, { isServer: true, secureContext, ALPNProtocols: ["http/1.1"] });
  const upstream = connectTls({
    socket: dialled,
    ALPNProtocols: ["http/1.1"],
    ...(host.kind === "name" ? { servername: host.text } : { host: host.text }),
  });
  secure.on("error", () => program.destroy());
  // A certificate that is not the host's ends all here: nothing was sent.
  upstream.on("error", () => secure.destroy());
  await once(upstream, "secureConnect");
  serve(secure, upstream, { ...options, secrets: options.secrets.tls });
}

/** Passes requests on, one after the other as they come on one connection. */
function serve(program: Duplex, host: Socket, options: ServingOptions): void {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  agent.createConnection = () => host;
  let waiting = 0;
  // An answer that has come is still told when the host has gone.
  const endOf = () => {
    if (host.destroyed && waiting === 0) program.end();
  };
  const server = createServer((request, response) => {
    waiting++;
    response.once("close", () => {
      waiting--;
      endOf();
    });
    if (waiting > maximumWaiting) return void program.destroy();
    pass(request, response, agent, options);
  });
  server.on("upgrade", (request, socket, head) => upgrade(request, socket, head, agent, options));
  server.on("clientError", () => program.destroy());
  server.requestTimeout = 0;
  server.keepAliveTimeout = 0;
  // Nothing more is asked of a host that has ended, for instance because nothing came for a while.
  host.allowHalfOpen = false;
  host.once("close", endOf);
  program.once("close", () => host.destroy());
  server.emit("connection", program);
}

function pass(request: IncomingMessage, response: ServerResponse, agent: Agent, options: ServingOptions): void {
  if (!isFor(request, options.destination)) return void refuse(response, 421, "Another host was asked for.");
  const { headers, hasValue } = headersFor(request, options.secrets);
  const asked = ask(request, headers, agent);
  if (!asked) return void refuse(response, 400, "The request cannot be passed on.");
  const failed = (error: unknown) => {
    if (response.headersSent) return void response.destroy();
    options.warn("a request with secrets was not answered", error);
    refuse(response, 502, "The host broke the connection off.");
  };
  asked.on("response", (answer) => {
    const concealment = new Concealment(options.secrets);
    const hasBody = concealment.isNeeded && hasValue && request.method !== "HEAD";
    // A placeholder has another length than its value.
    const passed = without("trailer", hasBody ? without("content-length", answer.rawHeaders) : answer.rawHeaders);
    try {
      const told = concealment.headers(passed) as unknown as OutgoingHttpHeaders;
      response.writeHead(answer.statusCode!, concealment.conceal(answer.statusMessage ?? ""), told);
    } catch (error) {
      // The host may say what no answer may: a status of 99, a line with control characters.
      answer.destroy();
      return failed(error);
    }
    const body = hasBody ? [answer, concealment.body(), response] : [answer, response];
    pipeline(body).catch(() => response.destroy());
  });
  asked.on("error", failed);
  // A host that becomes another protocol unasked ends without an error.
  asked.on("close", () => {
    if (!response.headersSent) failed(new Error("there was no answer"));
  });
  response.on("close", () => {
    if (!response.writableFinished) asked.destroy();
  });
  request.pipe(asked);
}

function refuse(response: ServerResponse, status: number, text: string): void {
  // The rest of the request is not read, so it may not be taken for the next.
  const headers = { "content-type": "text/plain", connection: "close" };
  // With its words, or those of an answer that could not be told are taken.
  response.writeHead(status, STATUS_CODES[status], headers).end(`${text}\n`);
}

/** What becomes another protocol passes as it is from then on, WebSockets above all. */
function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, agent: Agent, options: ServingOptions): void {
  const concealment = new Concealment(options.secrets);
  const { headers } = headersFor(request, options.secrets);
  const asked = isFor(request, options.destination) ? ask(request, headers, agent) : null;
  if (!asked) return void socket.destroy();
  asked.on("upgrade", (answer, upstream, rest) => {
    socket.write(headOf(answer, concealment.headers(answer.rawHeaders)));
    if (rest.length > 0) socket.write(rest);
    if (head.length > 0) upstream.write(head);
    Promise.all([pipeline(socket, upstream), pipeline(upstream, socket)]).catch(() => {});
  });
  asked.on("response", (answer) => {
    // Its body comes without its chunks' lengths, so it ends with the connection.
    const headers = without("connection", without("transfer-encoding", answer.rawHeaders));
    socket.write(headOf(answer, [...concealment.headers(headers), "connection", "close"]));
    pipeline(answer, socket).catch(() => {});
  });
  asked.on("error", () => socket.destroy());
  asked.end();
}

/**
 * Behind one address there may be many hosts: a secret of this one is sent to no other. A host goes by the address in a
 * request's first line before its `Host` (RFC 9112, 3.2.2), and by any of two.
 */
function isFor({ headers, rawHeaders, url = "" }: IncomingMessage, { host, port }: Destination): boolean {
  const named = rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === "host");
  if (named.length !== 1 || !(url.startsWith("/") || url === "*")) return false;
  const asked = parseAuthority(/:\d+$/.test(headers.host ?? "") ? headers.host! : `${headers.host}:${port}`);
  return asked?.host.text === host.text && asked.port === port;
}

/** The request's headers, and whether values are in them. An answer that may repeat these is asked for uncompressed. */
function headersFor({ rawHeaders }: IncomingMessage, secrets: readonly Secret[]) {
  const passed = without("trailer", rawHeaders);
  const headers = revealed(passed, secrets);
  const hasValue = headers.some((text, index) => text !== passed[index]);
  return {
    hasValue,
    headers: hasValue ? [...without("accept-encoding", headers), "accept-encoding", "identity"] : headers,
  };
}

/** Null for what Node does not send. Trailers stay behind, and so does their announcement. */
function ask({ method, url }: IncomingMessage, headers: string[], agent: Agent) {
  try {
    return makeRequest({ agent, method, path: url, headers, setHost: false });
  } catch {
    return null;
  }
}

/** Headers, name and value in turn, without the one of that name. */
function without(name: string, rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter((_, index) => rawHeaders[index - (index % 2)]!.toLowerCase() !== name);
}

function headOf({ statusCode, statusMessage }: IncomingMessage, rawHeaders: readonly string[]): string {
  const lines = rawHeaders.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`));
  return `HTTP/1.1 ${statusCode} ${statusMessage}\r\n${lines.join("")}\r\n`;
}
