import { once } from "node:events";
import {
  Agent,
  createServer,
  type IncomingMessage,
  request as makeRequest,
  type OutgoingHttpHeaders,
  type RequestOptions,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { Socket } from "node:net";
import { type Duplex, duplexPair } from "node:stream";
import { pipeline } from "node:stream/promises";
import { connect as connectTls, createSecureContext, type SecureContext, TLSSocket } from "node:tls";
import { parseAuthority } from "../contract/egress-rules.ts";
import { Budget, type Held } from "../core/budget.ts";
import { answerFault, flushHead } from "../core/http-head.ts";
import { Concealment } from "./concealment.ts";
import type { Destination } from "./policy.ts";
import {
  currentSecrets,
  type DestinationSecrets,
  maximumRevealed,
  revealed,
  type Secret,
  SecretUnavailable,
} from "./secrets.ts";

/** The first byte of a TLS connection: a handshake record (RFC 8446, 5.1). */
const handshake = 0x16;
/** The beginning of an HTTP/1.1 request. */
const method = /^[A-Z]{3,10}[ A-Z]/;
/** The size of pending requests' headers, in characters, by agent. */
const holding = new Budget({ total: 128 * 1024 * 1024, perHolder: 32 * 1024 * 1024 });
/** The limit on a response's head, in bytes. It is reserved in the budget until the response begins. */
const maximumAnswerHead = 64 * 1024;
/** Limit on pipelined requests per connection: each takes memory, and few programs pipeline at all. */
const maximumWaiting = 16;

export interface InterceptionOptions {
  /** The agent of the program. */
  agentId: string;
  destination: Destination;
  /** The secrets that the destination may receive. */
  secrets: DestinationSecrets;
  /** The replacement for the host's certificate. */
  certificate: () => Promise<{ certificate: string; key: string }>;
  /** Reports a request that could not be forwarded. */
  warn: (message: string, error: unknown) => void;
}

/** `InterceptionOptions` once the program's protocol is known. */
interface ServingOptions extends Omit<InterceptionOptions, "secrets"> {
  secrets: readonly Secret[];
}

/**
 * Intercepts connections between a program and a host that may receive secrets. Reads the program's HTTP/1.1 requests,
 * with or without TLS, and sends them to the host with the secrets' values in their headers. Other protocols pass
 * unchanged. `dialled` leads to the host; the returned stream replaces it for the tunnel. Stores none of the traffic.
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

/** Terminates TLS with a certificate that the machine trusts, and opens TLS to the host with public authorities. */
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
  // An invalid certificate of the host ends the connection before anything is sent.
  upstream.on("error", () => secure.destroy());
  await once(upstream, "secureConnect");
  serve(secure, upstream, { ...options, secrets: options.secrets.tls });
}

/** Forwards the requests of one connection, one after the other. */
function serve(program: Duplex, host: Socket, options: ServingOptions): void {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  agent.createConnection = () => host;
  let waiting = 0;
  /** Resolves when the previous request is answered. */
  let before: Promise<unknown> = Promise.resolve();
  // A response that has arrived is still delivered after the host has disconnected.
  const endOf = () => {
    if (host.destroyed && waiting === 0) program.end();
  };
  const server = createServer((request, response) => {
    waiting++;
    response.once("close", () => {
      waiting--;
      endOf();
    });
    const held = holding.take(options.agentId, sizeOf(request.rawHeaders));
    if (waiting > maximumWaiting || !held) {
      held?.[Symbol.dispose]();
      return void program.destroy();
    }
    const answered = new Promise((resolve) => response.once("close", resolve));
    void answered.then(() => held[Symbol.dispose]());
    // Values are inserted when the request is sent: until then it takes only the memory of its received bytes.
    void before.then(async () => {
      const secrets = await secretsOf(request, options).catch((error: unknown) =>
        refuseWithout(response, error, options),
      );
      if (secrets && !response.closed) pass(request, response, agent, held, { ...options, secrets });
    });
    before = answered;
  });
  server.on("upgrade", (request, socket, head) => {
    secretsOf(request, options).then(
      (secrets) => upgrade(request, socket, head, agent, { ...options, secrets }),
      () => socket.destroy(),
    );
  });
  server.on("clientError", () => program.destroy());
  server.requestTimeout = 0;
  server.keepAliveTimeout = 0;
  // Send nothing more to a host that has closed the connection, for example after an idle timeout.
  host.allowHalfOpen = false;
  host.once("close", endOf);
  program.once("close", () => host.destroy());
  server.emit("connection", program);
}

function secretsOf({ rawHeaders }: IncomingMessage, { secrets }: ServingOptions): Promise<readonly Secret[]> {
  return currentSecrets(secrets, rawHeaders);
}

/** The request needs a value that there is not. */
function refuseWithout(response: ServerResponse, error: unknown, { warn }: ServingOptions): void {
  if (response.closed) return;
  const isKnown = error instanceof SecretUnavailable;
  if (!isKnown) warn("the value of a secret could not be read", error);
  refuse(response, 502, isKnown ? error.message : "The value of a secret cannot be read at the moment. Try again.");
}

function pass(
  request: IncomingMessage,
  response: ServerResponse,
  agent: Agent,
  held: Held,
  options: ServingOptions,
): void {
  if (!isFor(request, options.destination)) return void refuse(response, 421, "The request is for another host.");
  const { headers, hasValue } = headersFor(request, options.secrets);
  if (!headers)
    return void refuse(response, 431, `With the secrets' values, headers are limited to ${maximumRevealed} bytes.`);
  const sent = sizeOf(request.rawHeaders) + sizeOf(headers);
  if (!held.resize(sent + maximumAnswerHead)) {
    return void refuse(response, 429, "The agent's pending requests with secrets are too large together.");
  }
  const asked = ask(request, headers, { agent, ...lenient });
  if (!asked) return void refuse(response, 400, "The request cannot be forwarded.");
  const failed = (error: unknown) => {
    if (response.headersSent) return void response.destroy();
    options.warn("a request with secrets got no response", error);
    refuse(
      response,
      502,
      answerFault(error, "The host's", maximumAnswerHead) ?? "The host closed the connection early.",
    );
  };
  asked.on("response", (answer) => {
    held.resize(sent + sizeOf(answer.rawHeaders));
    if (answer.statusCode === 401 && hasValue) {
      const used = options.secrets.filter(({ value }) => value !== "" && headers.some((text) => text.includes(value)));
      for (const { refused, value } of used) refused?.(value);
    }
    const concealment = new Concealment(options.secrets, { keepLength: !hasValue });
    const hasBody = concealment.isNeeded && request.method !== "HEAD";
    // A placeholder has another length than its value. Chunks have their own lengths, even if a careless host also sends
    // content-length.
    const isResized = (hasBody && hasValue) || answer.headers["transfer-encoding"] !== undefined;
    const passed = without(["trailer", ...(isResized ? ["content-length"] : [])], answer.rawHeaders);
    try {
      const told = concealment.headers(passed) as unknown as OutgoingHttpHeaders;
      response.writeHead(answer.statusCode!, concealment.conceal(answer.statusMessage ?? ""), told);
    } catch (error) {
      // The host may send an invalid answer: a status of 99, or a line with control characters.
      answer.destroy();
      return failed(error);
    }
    flushHead(response);
    const body = hasBody ? [answer, concealment.body(), response] : [answer, response];
    pipeline(body).catch(() => response.destroy());
  });
  asked.on("error", failed);
  // A host that switches protocols unasked ends without an error.
  asked.on("close", () => {
    if (!response.headersSent) failed(new Error("the host did not respond"));
  });
  response.on("close", () => {
    if (!response.writableFinished) asked.destroy();
  });
  request.pipe(asked);
}

function refuse(response: ServerResponse, status: number, text: string): void {
  // The rest of the request is not read, and must not be parsed as the next one.
  const headers = { "content-type": "text/plain", connection: "close" };
  // Set explicitly, or the status text of the undeliverable response is used.
  response.writeHead(status, STATUS_CODES[status], headers).end(`${text}\n`);
}

/** Switches to another protocol, such as WebSocket, whose bytes pass unchanged. */
function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, agent: Agent, options: ServingOptions): void {
  const { headers, hasValue } = headersFor(request, options.secrets);
  const concealment = new Concealment(options.secrets, { keepLength: !hasValue });
  const asked = headers && isFor(request, options.destination) ? ask(request, headers, { agent }) : null;
  if (!asked) return void socket.destroy();
  asked.on("upgrade", (answer, upstream, rest) => {
    socket.write(headOf(answer, concealment.headers(answer.rawHeaders)), "latin1");
    if (rest.length > 0) socket.write(rest);
    if (head.length > 0) upstream.write(head);
    Promise.all([pipeline(socket, upstream), pipeline(upstream, socket)]).catch(() => {});
  });
  asked.on("response", (answer) => {
    // The body is no longer chunked here, so it ends with the connection.
    const hasBody = concealment.isNeeded;
    const headers = without(["connection", "transfer-encoding", "content-length"], answer.rawHeaders);
    socket.write(headOf(answer, [...concealment.headers(headers), "connection", "close"]), "latin1");
    pipeline(hasBody ? [answer, concealment.body(), socket] : [answer, socket]).catch(() => {});
  });
  asked.on("error", () => socket.destroy());
  asked.end();
}

/**
 * Whether a request is meant for this host. One address may serve many hosts, and a secret must reach only its own.
 * Hosts prefer the URL in the request line over `Host` (RFC 9112, 3.2.2), and may use either of two `Host` headers.
 */
function isFor({ headers, rawHeaders, url = "" }: IncomingMessage, { host, port }: Destination): boolean {
  const named = rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === "host");
  if (named.length !== 1 || !(url.startsWith("/") || url === "*")) return false;
  const asked = parseAuthority(/:\d+$/.test(headers.host ?? "") ? headers.host! : `${headers.host}:${port}`);
  return asked?.host.text === host.text && asked.port === port;
}

/**
 * The request's headers, null if they are too long, and whether they contain values. Requests complete and uncompressed
 * responses: they may repeat these values or those of an earlier request.
 */
function headersFor({ rawHeaders }: IncomingMessage, secrets: readonly Secret[]) {
  const passed = without(["trailer", "accept-encoding", "range", "if-range"], rawHeaders);
  const headers = revealed(passed, secrets);
  if (!headers) return { hasValue: true, headers: null };
  const hasValue = headers.some((text, index) => text !== passed[index]);
  return { hasValue, headers: [...headers, "accept-encoding", "identity"] };
}

function sizeOf(rawHeaders: readonly string[]): number {
  return rawHeaders.reduce((sum, { length }) => sum + length, 0);
}

/**
 * Accepts careless responses. The connection belongs to one program and one host, and the response is serialized again,
 * so a malformed one can confuse no other. Not for an upgrade, whose headers are not checked again.
 */
const lenient = { maxHeaderSize: maximumAnswerHead, insecureHTTPParser: true };

/** Null for headers that Node does not send. Trailers are dropped, and so is their announcement. */
function ask({ method, url }: IncomingMessage, headers: string[], options: RequestOptions) {
  try {
    return makeRequest({ ...options, method, path: url, headers, setHost: false });
  } catch {
    return null;
  }
}

/** Headers, as alternating names and values, without the named ones. */
function without(names: readonly string[], rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter((_, index) => !names.includes(rawHeaders[index - (index % 2)]!.toLowerCase()));
}

function headOf({ statusCode, statusMessage }: IncomingMessage, rawHeaders: readonly string[]): string {
  const lines = rawHeaders.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`));
  return `HTTP/1.1 ${statusCode} ${statusMessage}\r\n${lines.join("")}\r\n`;
}
