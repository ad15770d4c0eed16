import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type IncomingHttpHeaders } from "node:http2";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import {
  connectionWindowBytes,
  maximumSessionMegabytes as maxSessionMemory,
  streamWindowBytes,
  tunnelHeader,
  verdictHeader,
} from "../contract/guest.ts";
import { connectionHeaders, flushHead } from "../core/http-head.ts";

/** How long a call waits for a disconnected server, for example during a restart. */
const awaySeconds = 60;

/**
 * The characters that HTTP/2 accepts as an authority, valid or not. For any others it ends the stream without a
 * response.
 */
const isAuthority = /^[A-Za-z0-9._~%:[\]-]+$/;

const dropped = new Set([...connectionHeaders, "host", "http2-settings"]);

/** Why a tunnel was refused: the proxy's answer, and a code for programs. */
export interface Refused {
  status: number;
  word: string;
  text: string;
}

/**
 * The guest's only way out: carries local programs' model calls and egress tunnels as streams on a connection that the
 * server opened.
 */
export class Uplink {
  #session: ClientHttp2Session | null = null;
  #waiting: (() => void)[] = [];
  #calls = 0;
  #held: Promise<void> = Promise.resolve();

  get calls(): number {
    return this.#calls;
  }

  /** Delays the responses of model calls until `until` resolves. */
  hold(until: Promise<void>): void {
    this.#held = until;
  }

  /** Replaces an earlier connection. */
  attach(socket: Socket): void {
    this.#session?.destroy();
    const session = connect("http://berth", {
      createConnection: () => socket,
      settings: { initialWindowSize: streamWindowBytes },
      maxSessionMemory,
    });
    session.on("connect", () => session.setLocalWindowSize(connectionWindowBytes));
    session.on("error", () => {});
    session.on("close", () => {
      if (this.#session === session) this.#session = null;
    });
    this.#session = session;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  listen(port: number): Server {
    const server = createServer((request, response) => void this.#forward(request, response));
    // Keep-alive connections from the template stay usable, however long a clone has slept.
    server.keepAliveTimeout = 0;
    server.requestTimeout = 0;
    return server.listen(port, "127.0.0.1");
  }

  /**
   * Opens a tunnel to `HOST:PORT`. `gone` aborts when the caller disconnects. `name` is its name in `Downloads`, if a
   * download may carry its later bytes.
   */
  async tunnel(
    authority: string,
    gone: AbortSignal,
    name: string | null = null,
  ): Promise<{ stream: ClientHttp2Stream } | Refused> {
    if (!isAuthority.test(authority)) {
      const text = "Berth refused the connection: it is not to HOST:PORT in their usual spelling.";
      return { status: 400, word: "destination_invalid", text };
    }
    const session = await this.#connected();
    if (!session) return { status: 503, word: "server_away", text: "The server is away. Try again." };
    const lost = { status: 503, word: "server_away", text: "The connection to the server was lost. Try again." };
    if (gone.aborted) return lost;
    const stream = session.request(
      { ":method": "CONNECT", ":authority": authority, ...(name && { [tunnelHeader]: name }) },
      { endStream: false, signal: gone },
    );
    return new Promise((resolve) => {
      stream.on("error", () => resolve(lost));
      stream.on("close", () => resolve(lost));
      stream.on("response", (headers) => {
        const status = Number(headers[":status"]);
        if (status === 200) return resolve({ stream });
        resolve(refusalOf(status, headers, stream));
      });
    });
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#calls += 1;
    const session = await this.#connected();
    if (response.destroyed) return; // The program has gone, so nothing would end the stream.
    if (!session) return refuse(response, "The server is away.");
    const stream = session.request({
      ":method": request.method ?? "GET",
      ":path": request.url ?? "/",
      ...passed(request.headers),
    });
    let answered = false;
    stream.on("response", async (headers) => {
      answered = true;
      await this.#held;
      if (response.headersSent || response.destroyed) return;
      const status = Number(headers[":status"]);
      response.writeHead(status, passed(headers));
      flushHead(response);
      stream.pipe(response);
    });
    stream.on("error", (error) => {
      if (response.headersSent) response.destroy();
      else refuse(response, error.message);
    });
    stream.on("close", () => {
      // An answer without a body may end while it is held.
      if (answered && stream.readableEnded) return;
      if (response.headersSent) response.destroy();
      else refuse(response, "The connection to the server was lost.");
    });
    response.on("close", () => stream.close());
    request.pipe(stream);
  }

  async #connected(): Promise<ClientHttp2Session | null> {
    const deadline = performance.now() + awaySeconds * 1000;
    while (!this.#session || this.#session.closed || this.#session.destroyed) {
      const left = deadline - performance.now();
      if (left <= 0) return null;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
    return this.#session;
  }
}

async function refusalOf(status: number, headers: IncomingHttpHeaders, stream: ClientHttp2Stream): Promise<Refused> {
  stream.end();
  return { status, word: String(headers[verdictHeader]), text: await text(stream).catch(() => "") };
}

function passed(headers: NodeJS.Dict<string | string[]>): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !name.startsWith(":") && !dropped.has(name)) kept[name] = value;
  }
  return kept;
}

function refuse(response: ServerResponse, message: string): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(503, { "content-type": "application/json" });
  response.end(JSON.stringify({ type: "error", error: { type: "api_error", message } }));
}
