import type { ServerHttp2Stream } from "node:http2";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import {
  type CallToolResult,
  createMcpHandler,
  type McpHttpHandler,
  McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { AgentState } from "../../agents/agent.ts";
import type { AppContext } from "../../context.ts";
import { asBerthError, BerthError } from "../../contract/errors.ts";
import { OtherAgents, OtherAnswer, StartTurnArguments } from "../../contract/mcp.ts";
import { agentsServer, alwaysOffered } from "../../contract/mcp-servers.ts";
import { parseJson } from "../../core/json-structure.ts";
import type { TurnState } from "../../turns/turn.ts";
import { argumentsOf } from "./arguments.ts";
import { Progress } from "./progress.ts";
import { requestHeaders } from "./request-headers.ts";
import { addScheduleTools } from "./schedule-tools.ts";
import { authInfoOf } from "./server.ts";
import { toFailure, toResult } from "./tool.ts";
import { longerNote } from "./turn-tools.ts";

/** A message has 256 KiB; in JSON, each byte may take six. */
const maximumBodyBytes = 2 * 1024 * 1024;
/**
 * How long a called agent may wait for a slot. The calling agent keeps its own slot in the meantime, so agents that
 * call each other could otherwise wait forever.
 */
const placeMs = 120_000;
const placeCheckMs = 5_000;
const askArguments = argumentsOf(StartTurnArguments);
/** How much of an agent's instructions another one sees, in characters. */
const shownInstructions = 300;

/**
 * The MCP server with which agents call other agents of their account, and schedule messages to themselves. It is reachable only through the uplink of the
 * calling agent's machine, which identifies the agent.
 */
export class OtherAgentsServer {
  readonly #context: AppContext;
  readonly #handler: McpHttpHandler;

  constructor(context: AppContext) {
    this.#context = context;
    this.#handler = createMcpHandler(({ authInfo }) => this.#serverFor(authInfo!.extra!.agentId as string), {
      onerror: (error) => context.log("a request for other agents failed", { error }),
    });
  }

  /** Handles a request of the agent's machine. `read` gets the number of bytes of its body that have arrived. */
  async serve(
    agentId: string,
    stream: ServerHttp2Stream,
    headers: NodeJS.Dict<string | string[]>,
    read: (bytes: number) => void,
  ): Promise<void> {
    const gone = new AbortController();
    stream.on("close", () => gone.abort());
    const method = String(headers[":method"]);
    const parsedBody = method === "POST" ? await bodyOf(stream, read) : undefined;
    if (parsedBody === null) return refuse(stream);
    const asked = new Request("http://berth/", { method, headers: requestHeaders(headers), signal: gone.signal });
    const answer = await this.#handler.fetch(asked, { authInfo: authInfoOf({ agentId }), parsedBody });
    const type = answer.headers.get("content-type");
    stream.respond({ ":status": answer.status, ...(type === null ? {} : { "content-type": type }) });
    if (!answer.body) return void stream.end();
    const body = Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]);
    await pipeline(body, stream).catch(() => {}); // The machine has disconnected; the called agent's turn continues.
  }

  close(): Promise<void> {
    return this.#handler.close();
  }

  async #serverFor(agentId: string): Promise<McpServer> {
    const { stores, ownSchedules } = this.#context;
    const server = new McpServer({ name: agentsServer, version: "1" });
    const agent = await stores.agents.byId(agentId);
    if (!agent?.schedules || agent.agents.length > 0) await this.#addAgents(server, agentId);
    if (agent?.schedules) {
      const { schedules: limits } = agent;
      addScheduleTools(server, { agentId, limits, schedules: ownSchedules, toFailure: this.#toFailure });
    }
    return server;
  }

  async #addAgents(server: McpServer, agentId: string): Promise<void> {
    const others = await this.#context.asking.choice(agentId);
    const names = others.map(({ name }) => name).join(", ") || "none at present";
    server.registerTool(
      "list_agents",
      {
        title: "List other agents",
        description: `Lists the other agents that ask_agent reaches (${names}) with what they are for.`,
        outputSchema: OtherAgents,
        annotations: { readOnlyHint: true, openWorldHint: false },
        _meta: alwaysOffered,
      },
      async () => toResult({ result: { agents: others.map(toChoice) } }),
    );
    server.registerTool(
      "ask_agent",
      {
        title: "Ask another agent",
        description: `Sends a message to another agent and waits for its reply: ${names}. Each has its own files and its own conversation, which continues from message to message; it sees nothing of yours, so include everything it needs in the message.`,
        inputSchema: askArguments,
        outputSchema: OtherAnswer,
        annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
        _meta: alwaysOffered,
      },
      ({ agent, message }, context) => this.#ask(agentId, agent, message, context).catch(this.#toFailure),
    );
  }

  async #ask(agentId: string, name: string, message: string, { mcpReq }: ServerContext): Promise<CallToolResult> {
    using progress = new Progress(mcpReq);
    const { asking, turns } = this.#context;
    const { agent, turn } = await asking.begin(agentId, name, message);
    await this.#wait(agent, turn, mcpReq.signal, progress);
    const { id: turnId, reply, replyTruncated, status, error } = await turns.past.read(agent.id, turn.id);
    if (error) throw new BerthError(error.code, error.message);
    if (status === "cancelled") throw new BerthError("turn_cancelled", `The turn of ${name} was cancelled.`);
    const text = replyTruncated ? `${reply}\n\n${longerNote}` : reply;
    return toResult({ result: { agent: name, turnId, reply, replyTruncated }, text });
  }

  /** Waits until the turn has ended or no caller waits. Throws `no_capacity` if its agent gets no slot. */
  async #wait(agent: AgentState, turn: TurnState, gone: AbortSignal, progress: Progress): Promise<void> {
    const { turns, slots } = this.#context;
    let queuedMs = 0;
    const impatient = new AbortController();
    const timer = setInterval(() => {
      queuedMs = slots.positionOf(agent.id) === null ? 0 : queuedMs + placeCheckMs;
      if (queuedMs >= placeMs) impatient.abort();
    }, placeCheckMs);
    try {
      for await (const batch of turns.events.follow(turn, 0, AbortSignal.any([gone, impatient.signal]))) {
        for (const { event } of batch) progress.note(event);
      }
    } finally {
      clearInterval(timer);
    }
    if (!impatient.signal.aborted) return;
    await turns.cancel(agent, turn);
    throw new BerthError("no_capacity", `No machine slot became available for ${agent.name}; try again later.`);
  }

  readonly #toFailure = (thrown: unknown): CallToolResult => {
    const error = asBerthError(thrown, "internal", "An internal error occurred.");
    if (error.status >= 500) this.#context.log("a call of an agent's own tools failed", { error: thrown });
    return toFailure(error);
  };
}

function toChoice({ name, runtime, model, status, instructions }: AgentState) {
  return { name, runtime, model, status, about: instructions?.slice(0, shownInstructions).toWellFormed() ?? null };
}

/** The request's JSON; null if it is invalid or too large. */
async function bodyOf(stream: ServerHttp2Stream, read: (bytes: number) => void): Promise<unknown> {
  let size = 0;
  const bounded = async function* () {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length;
      read(chunk.length);
      if (size > maximumBodyBytes) return;
      yield chunk;
    }
  };
  return buffer(bounded())
    .then(parseJson)
    .catch(() => null);
}

function refuse(stream: ServerHttp2Stream): void {
  if (stream.destroyed) return;
  stream.respond({ ":status": 400, "content-type": "application/json" });
  const message = "The body must be JSON of up to 2 MiB.";
  stream.end(JSON.stringify({ jsonrpc: "2.0", error: { code: -32700, message }, id: null }));
}
