import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { Agent, InstallStatus, TurnEvent } from "@berth/client";
import { noLimits } from "../../src/contract/limits.ts";
import { allAllowed } from "../../src/contract/permissions.ts";

// For tests: the real tool against a scripted service.

const launcher = fileURLToPath(new URL("../../berth", import.meta.url));

/** A request that the service received. */
interface Seen {
  method: string;
  path: string;
  authorization: string | undefined;
  headers: IncomingMessage["headers"];
  body: string;
}

export type Answer = (response: ServerResponse, seen: Seen) => void;

/** The service and the tool that calls it. */
export class ScriptedApi implements Disposable {
  seen: Seen[] = [];
  /** By method and path. The first answer left is sent, and removed unless it is the path's last. */
  answers: Record<string, Answer[]> = {};
  readonly #server: Server;

  private constructor() {
    this.#server = createServer(async (request, response) => {
      const { method = "", url: path = "", headers } = request;
      const one = { method, path, authorization: headers.authorization, headers, body: await text(request) };
      this.seen.push(one);
      const left = this.answers[`${method} ${path}`] ?? [refuse(404, "There is no such path.", "path_not_found")];
      (left.length > 1 ? left.shift()! : left[0]!)(response, one);
    });
  }

  static async listen(): Promise<ScriptedApi> {
    const api = new ScriptedApi();
    api.#server.listen(0, "127.0.0.1");
    await once(api.#server, "listening");
    return api;
  }

  /** Clears the received requests and the scripted answers. */
  clear(): void {
    this.seen = [];
    this.answers = {};
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Starts the tool. */
  start(args: string[], environment: Record<string, string> = {}): ChildProcess {
    return spawn(launcher, args, {
      env: { PATH: process.env.PATH, TZ: "UTC", BERTH_URL: this.url, BERTH_API_KEY: "berth_sk_test", ...environment },
    });
  }

  /** Runs the tool to its end. */
  async berth(args: string[], { input = "", environment = {} as Record<string, string> } = {}) {
    const child = this.start(args, environment);
    child.stdin!.on("error", () => {});
    child.stdin!.end(input);
    return ended(child);
  }

  [Symbol.dispose](): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

/** The outcome of a run of the tool. */
export async function ended(child: ChildProcess) {
  const closed = once(child, "close");
  const [stdout, stderr] = await Promise.all([text(child.stdout!), text(child.stderr!)]);
  const [code] = (await closed) as [number | null];
  return { code, stdout, stderr };
}

export function json(body: unknown, status = 200): Answer {
  return (response) => response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

export function refuse(statusCode: number, message: string, code: string, details?: unknown): Answer {
  return json({ statusCode, message, error: "", code, details }, statusCode);
}

export function agent(name: string, changes: Partial<Agent> = {}): Agent {
  return {
    name,
    maker: null,
    runtime: "claude-code",
    model: null,
    instructions: null,
    effort: null,
    acp: null,
    mcpServers: {},
    agents: [],
    schedules: null,
    fallbackModels: [],
    autoSnapshot: 0,
    permissions: allAllowed,
    ...noLimits,
    private: false,
    status: "ready",
    createdAt: "2026-01-02T03:04:05.678Z",
    lastActiveAt: "2026-01-02T03:04:05.678Z",
    conversation: 1,
    error: null,
    forkedFrom: null,
    importedFrom: null,
    queuePosition: null,
    queueLength: 0,
    queue: { held: null },
    resources: { cpus: 2, memoryMiB: 1536, diskGiB: 10 },
    image: { id: "5d41402abc4b2a76", upgradeAvailable: false },
    ...changes,
  };
}

/** An installation with one running step, or none. */
export function installation(status: InstallStatus["status"], running: string | null): InstallStatus {
  const steps = (["template", "disk", "machine", "runtime"] as const).map((name) => ({
    name,
    status: name === running ? ("running" as const) : ("pending" as const),
    startedAt: null,
    finishedAt: null,
  }));
  const error = status === "failed" ? { code: "machine_failed" as const, message: "The machine did not start." } : null;
  return { status, progress: 0, steps, error };
}

/** Streams events, such as an installation's states, and ends. */
/** A stream of events, numbered from `from`. It stays open unless it contains its last event. */
export function turn(events: TurnEvent[], { from = 1, breaks = false } = {}): Answer {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream", "x-turn-id": "t1" });
    for (const [index, event] of events.entries()) {
      response.write(`id: ${from + index}\ndata: ${JSON.stringify(event)}\n\n`);
    }
    if (breaks) response.write(": going\n\n", () => response.destroy());
    else if (/completed|failed|cancelled/.test(events.at(-1)?.type ?? "")) response.end();
  };
}

export function streaming(...events: unknown[]): Answer {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
  };
}
