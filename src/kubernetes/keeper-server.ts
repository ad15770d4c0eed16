import { createHash, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Duplex, PassThrough } from "node:stream";
import { json } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { asBerthError, BerthError } from "../contract/errors.ts";
import { archiveOf } from "../core/archive/writer.ts";
import { changes } from "../machines/driver-calls.ts";
import { writeWhole } from "../machines/qemu/files.ts";
import type { Progress } from "../machines/spec.ts";
import {
  epochHeader,
  isKeeperCall,
  type KeeperCall,
  type KeeperDriver,
  type KeeperLine,
  type Passed,
  passedAt,
  pulseMs,
  uplinkPath,
} from "./keeper-calls.ts";
import type { PassedFiles } from "./passed-files.ts";
import { switching, type TemplateUplinks } from "./template-uplinks.ts";

const maximumBody = 256 * 1024;

/** How long a refused caller may continue to send. */
const drainMs = 10_000;

interface KeeperOptions {
  driver: KeeperDriver;
  files: PassedFiles;
  uplinks: TemplateUplinks;
  token: string;
  /** The file of the highest term of a server that called. */
  epochFile: string;
  host: string;
  port: number;
}

/** Serves the calls of one machine's driver over HTTP. */
export class KeeperServer implements AsyncDisposable {
  readonly #driver: KeeperDriver;
  readonly #files: PassedFiles;
  readonly #uplinks: TemplateUplinks;
  readonly #token: Buffer;
  readonly #epochFile: string;
  readonly #server: Server;
  #epoch: number;
  /** Aborted when a server of a later term calls. */
  #term = new AbortController();
  #last: Promise<unknown> = Promise.resolve();
  /** Node's server drops upgraded requests from its list. */
  readonly #connections = new Set<Duplex>();

  private constructor({ driver, files, uplinks, token, epochFile }: KeeperOptions, epoch: number) {
    this.#driver = driver;
    this.#files = files;
    this.#uplinks = uplinks;
    this.#token = digest(token);
    this.#epochFile = epochFile;
    this.#epoch = epoch;
    // A machine's files may take longer than other requests.
    this.#server = createServer({ requestTimeout: 0 }, (request, response) => void this.#serve(request, response));
    this.#server.on("upgrade", (request, socket) => void this.#connect(request, socket));
  }

  static async listen(options: KeeperOptions): Promise<KeeperServer> {
    const epoch = Number(await readFile(options.epochFile, "utf8").catch(() => "0"));
    const keeper = new KeeperServer(options, epoch);
    await once(keeper.#server.listen(options.port, options.host), "listening");
    return keeper;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Runs `work` without a concurrent call, and accepts no call after it. */
  async finally<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#inTurn(work);
    this.#last = new Promise(() => {});
    return result;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    for (const socket of this.#connections) socket.destroy();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // For Kubernetes' probes.
    if (request.url === "/healthz") return void response.end();
    if (request.method === "GET") return this.#give(request, response);
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const tell = (line: KeeperLine) => void response.write(`${JSON.stringify(line)}\n`);
    const pulse = setInterval(() => response.write("\n"), pulseMs);
    try {
      await this.#admit(request);
      response.writeHead(200, { "content-type": "application/x-ndjson" });
      response.flushHeaders();
      const passed = passedAt(request.url);
      const result = passed
        ? await this.#take(passed, request, gone.signal)
        : await this.#perform(callOf(request), await argumentsOf(request), tell, gone.signal);
      tell({ result: result ?? null });
    } catch (thrown) {
      const { code, message } = asBerthError(thrown, "internal", (thrown as Error).message);
      tell({ error: { code, message } });
      await drain(request);
    } finally {
      clearInterval(pulse);
      response.end();
    }
  }

  /** Sends the machine's files. An error before the first byte is reported as JSON. */
  async #give(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.#admit(request);
      const { signal } = this.#term;
      const passed = passedAt(request.url);
      if (!passed) throw new BerthError("path_not_found", "There are no such files.");
      await using staged = await this.#inTurn(() => this.#files.stage(passed));
      response.writeHead(200, { "content-type": "application/x-tar" });
      await pipeline(archiveOf(staged.path), response, { signal });
    } catch (thrown) {
      if (response.headersSent) return void response.destroy();
      const { code, message } = asBerthError(thrown, "internal", (thrown as Error).message);
      response.writeHead(500).end(JSON.stringify({ code, message }));
    }
  }

  /** Receives another machine's files. Stops if the caller disconnects or is deposed before they are complete. */
  async #take(passed: Passed, request: IncomingMessage, gone: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([gone, this.#term.signal]);
    // Not the request itself: a refusal ends the source, and the caller must still get a response.
    const source = request.pipe(new PassThrough());
    await using received = await this.#files.receive(passed, source, signal);
    await this.#inTurn(async () => {
      signal.throwIfAborted();
      await this.#files.place(received);
    });
  }

  #perform(call: KeeperCall, given: unknown[], tell: (line: KeeperLine) => void, gone: AbortSignal): Promise<unknown> {
    const progress: Progress = { plan: (plan) => tell({ plan }), begin: (begin) => tell({ begin }) };
    const added = call === "create" ? [progress, gone] : call === "suspend" || call === "packDisk" ? [gone] : [];
    const method = this.#driver[call].bind(this.#driver) as (...all: unknown[]) => Promise<unknown>;
    const work = () => method(...given, ...added);
    // Changes are serial, because a lost caller's change may still be running. Packing changes nothing, so a machine
    // whose pod ends does not wait for it.
    return changes(call) && call !== "packDisk" ? this.#inTurn(work) : work();
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    return result;
  }

  async #connect(request: IncomingMessage, socket: Duplex): Promise<void> {
    this.#connections.add(socket);
    socket.once("close", () => this.#connections.delete(socket));
    socket.on("error", () => socket.destroy());
    try {
      await this.#admit(request);
      if (request.url === uplinkPath) return this.#uplinks.offer(socket);
      const guest = await this.#driver.dial(machineOf(request));
      socket.write(switching);
      await Promise.all([pipeline(socket, guest), pipeline(guest, socket)]);
    } catch {
      socket.destroy();
    }
  }

  /** Throws `forbidden` for another's token, `agent_elsewhere` for a deposed server. */
  async #admit({ headers }: IncomingMessage): Promise<void> {
    const given = digest(headers.authorization?.replace(/^Bearer /, "") ?? "");
    if (!timingSafeEqual(given, this.#token)) throw new BerthError("forbidden", "This is not the machine's key.");
    const epoch = Number(headers[epochHeader]);
    if (!(epoch >= this.#epoch)) {
      throw new BerthError("agent_elsewhere", "Another server leads the agent's machine by now.");
    }
    if (epoch === this.#epoch) return;
    this.#epoch = epoch;
    this.#term.abort(new BerthError("agent_elsewhere", "Another server leads the agent's machine by now."));
    this.#term = new AbortController();
    await writeWhole(this.#epochFile, String(epoch));
  }
}

/** Reads the rest of the request, or the caller would miss the response. */
async function drain(request: IncomingMessage): Promise<void> {
  if (request.destroyed || request.complete) return;
  request.resume();
  const goes = AbortSignal.timeout(drainMs);
  await once(request, "close", { signal: goes }).catch(() => {});
}

function callOf({ url }: IncomingMessage): KeeperCall {
  const [, call = ""] = /^\/calls\/(\w+)$/.exec(url ?? "") ?? [];
  if (isKeeperCall(call)) return call;
  throw new BerthError("path_not_found", "There is no such call.");
}

function machineOf({ url = "" }: IncomingMessage): string {
  return url.slice(url.lastIndexOf("/") + 1);
}

async function argumentsOf(request: IncomingMessage): Promise<unknown[]> {
  if (Number(request.headers["content-length"] ?? Number.NaN) <= maximumBody) return (await json(request)) as unknown[];
  throw new BerthError("body_too_large", "The call is too large, or does not say its size.");
}

function digest(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
