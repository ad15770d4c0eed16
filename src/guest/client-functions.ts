import { randomUUID } from "node:crypto";
import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { NodeStreamableHTTPServerTransport } from "@modelcontextprotocol/node";
import { Server, type ServerContext } from "@modelcontextprotocol/server";
import type { TurnEvent } from "../contract/chat.ts";
import { type ClientFunction, functionServer } from "../contract/functions.ts";
import { alwaysOffered } from "../contract/mcp-servers.ts";
import { type OutputValue, outputTool } from "../contract/output.ts";
import { GuestError } from "./control.ts";
import type { OutputAnswer, TurnOutput } from "./turn-output.ts";

/** How long a turn waits for its runtime to read the list of functions. */
const offerMs = 3_000;
/** Delay after the list is sent until the runtime has processed it. */
const takenMs = 100;
/** How long a call waits for its result. The machine stays awake for that time. */
const resultMs = 30 * 60_000;
/** Runtimes abandon a call that reports no progress for a minute. */
const progressMs = 15_000;

interface OfferedTurn {
  turnId: string;
  functions: readonly ClientFunction[];
  /** The structured output that it has to give; null: none. */
  output: TurnOutput | null;
  emit: (event: TurnEvent) => void;
  /** Aborted when the turn is over. */
  over: AbortController;
}

interface Waiting {
  callId: string;
  answer: (output: string) => void;
}

interface Session {
  server: Server;
  transport: NodeStreamableHTTPServerTransport;
  /** Whether it accepts messages: a runtime that exits does not close its session. */
  listens: boolean;
}

/** How many sessions of exited runtimes are kept. */
const maximumSessions = 8;

/**
 * Functions of a turn's client, as an MCP server (https://modelcontextprotocol.io) that the runtime connects to at its
 * start. A call becomes an event of the turn and waits for its result. Calls run one at a time.
 */
export class ClientFunctions {
  readonly #sessions = new Map<string, Session>();
  #turn: OfferedTurn | null = null;
  #waiting: Waiting | null = null;
  #answered = new Set<string>();
  #queue: Promise<unknown> = Promise.resolve();
  /** The runtime's read of the last change. */
  #changed: Promise<void> = Promise.resolve();
  #listed = () => {};

  /** Offers the turn's functions and its output. Resolves when the runtime has read them, or takes too long. */
  async offer(offered: Omit<OfferedTurn, "over">): Promise<void> {
    this.#turn = { ...offered, over: new AbortController() };
    this.#answered = new Set();
    if (this.#tools.length > 0) this.#changed = this.#tell();
    await this.#changed;
  }

  /** Ends the offer and all waiting calls. */
  withdraw(): void {
    const hadTools = this.#tools.length > 0;
    this.#turn?.over.abort();
    this.#turn = null;
    if (hadTools) this.#changed = this.#tell();
  }

  get #tools(): readonly ClientFunction[] {
    const { functions = [], output = null } = this.#turn ?? {};
    return output ? [...functions, output.tool] : functions;
  }

  /** Gives a call its result; the first result wins. Throws `function_not_waiting`. */
  answer(turnId: string, callId: string, output: string): void {
    if (this.#turn?.turnId === turnId) {
      if (this.#answered.has(callId)) return;
      if (this.#waiting?.callId === callId) {
        this.#waiting.answer(output);
        return;
      }
    }
    throw new GuestError("function_not_waiting", "the call does not wait for a result");
  }

  listen(port: number): HttpServer {
    const server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
    server.requestTimeout = 0;
    server.keepAliveTimeout = 0;
    return server.listen(port, "127.0.0.1");
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = request.headers["mcp-session-id"];
    if (id === undefined) return (await this.#newSession()).transport.handleRequest(request, response);
    const session = this.#sessions.get(String(id));
    if (!session) return void response.writeHead(404).end();
    if (request.method === "GET") {
      session.listens = true;
      response.on("close", () => {
        session.listens = false;
      });
    }
    return session.transport.handleRequest(request, response);
  }

  async #newSession(): Promise<Session> {
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => this.#keep(id, session),
      onsessionclosed: (id) => void this.#sessions.delete(id),
    });
    const session: Session = { server: this.#newServer(), transport, listens: false };
    await session.server.connect(transport);
    return session;
  }

  #keep(id: string, session: Session): void {
    this.#sessions.set(id, session);
    const silent = [...this.#sessions].filter(([, { listens }]) => !listens);
    for (const [old] of silent.slice(0, -maximumSessions)) this.#sessions.delete(old);
  }

  get #listening(): Session[] {
    return [...this.#sessions.values()].filter(({ listens }) => listens);
  }

  #newServer(): Server {
    const server = new Server(
      { name: functionServer, version: "1" },
      { capabilities: { tools: { listChanged: true } } },
    );
    server.setRequestHandler("tools/list", async () => {
      setImmediate(this.#listed); // Send the response first.
      return {
        tools: this.#tools.map(({ name, description, parameters }) => ({
          name,
          description: description ?? "",
          inputSchema: { ...parameters, type: "object" as const },
          _meta: alwaysOffered,
        })),
      };
    });
    server.setRequestHandler("tools/call", async ({ params }, context) => {
      const { text, isError } = await this.#answer(params.name, params.arguments ?? {}, context);
      return { content: [{ type: "text" as const, text }], isError };
    });
    return server;
  }

  /** Notifies runtimes of the new list. Resolves when one has read it, or after a timeout. */
  async #tell(): Promise<void> {
    const listening = this.#listening;
    if (listening.length === 0) return;
    const listed = new Promise<void>((resolve) => {
      this.#listed = resolve;
    });
    for (const { server } of listening) server.sendToolListChanged().catch(() => {});
    await Promise.race([listed.then(() => sleep(takenMs)), sleep(offerMs)]);
  }

  async #answer(name: string, args: OutputValue, context: ServerContext): Promise<OutputAnswer> {
    const output = this.#turn?.output;
    if (output && name === outputTool) return output.take(args);
    return { text: await this.#call(name, args, context), isError: false };
  }

  async #call(name: string, args: object, { mcpReq }: ServerContext): Promise<string> {
    const turn = this.#turn;
    if (!turn?.functions.some((each) => each.name === name)) return `There is no function ${name} now.`;
    const token = mcpReq._meta?.progressToken;
    let progress = 0;
    const alive = setInterval(() => {
      if (token === undefined) return;
      const params = { progressToken: token, progress: ++progress };
      mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
    }, progressMs);
    const signal = AbortSignal.any([turn.over.signal, mcpReq.signal]);
    const result = this.#queue.then(() => this.#ask(turn, name, args, signal));
    this.#queue = result.catch(() => {});
    return result.finally(() => clearInterval(alive));
  }

  async #ask(turn: OfferedTurn, name: string, args: object, signal: AbortSignal): Promise<string> {
    if (signal.aborted) return "The call was cancelled.";
    const callId = `call_${randomUUID().replaceAll("-", "")}`;
    const { promise, resolve } = Promise.withResolvers<string>();
    this.#waiting = { callId, answer: resolve };
    turn.emit({ type: "response.function_call", callId, name, arguments: JSON.stringify(args) });
    const giveUp = () => resolve("The call was cancelled.");
    const timer = setTimeout(() => resolve("The client gave no result in time."), resultMs);
    signal.addEventListener("abort", giveUp);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", giveUp);
      this.#waiting = null;
      this.#answered.add(callId);
    }
  }
}
