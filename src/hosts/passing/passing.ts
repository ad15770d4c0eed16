import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import { BerthError } from "../../contract/errors.ts";
import { isUuid } from "../../contract/ids.ts";
import { placeIn } from "../../contract/mcp-tasks.ts";
import { fromResponseId } from "../../contract/openai.ts";
import type { Route } from "../../contract/route.ts";
import type { Viewer } from "../../core/http/access.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { type Leadership, takeOverMs } from "../leadership.ts";
import type { AgentReference, HostLease } from "../lease-store.ts";
import { notLeadingHeader, openPassport, type Passport, passportHeader, type Seal, sealPassport } from "./passport.ts";
import { type Passage, relay } from "./relay.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Another server's description of a request that it has forwarded; absent for a client's own. */
    passport?: Passport;
    /** Whether the host is known only after the body is parsed. Determined once, because hosts come and go. */
    isNamedInBody?: boolean;
  }
}

/** The maximum size of a buffered body. A larger one is streamed, and cannot be sent again. */
const maximumKept = 4 * 1024 * 1024;
const pollMs = 20;
/** Time for responses that are being written when the server ends. */
const lastWordsMs = 100;

/** Unfinished requests, each with its connection. */
type Open = Map<ServerResponse, Socket | null>;

/** A request and its destination. */
interface Errand {
  host: string;
  /** Whether this server can also handle it while the host has no leader. */
  orHere: boolean;
  passport: Passport;
  passage: Passage;
  /** The body, if it is already parsed; null: it is streamed. */
  body?: Buffer | null;
}

/** A request about an agent that arrived inside another request. */
interface Inner {
  agent: string;
  path: string;
  body: unknown;
  continues: Passport["continues"];
}

/**
 * Forwards requests to the server that leads their agent's host. During a take-over, a request waits for the next
 * leader. A request is forwarded at most once.
 */
export class Passing {
  readonly #leaders: Leadership;
  readonly #seal: Seal;
  readonly #metrics: Metrics;
  /** Requests that this server handles as the leader. */
  readonly #here: Open = new Map();
  /** Requests that are forwarded, or wait for a leader. */
  readonly #passed: Open = new Map();

  constructor(leaders: Leadership, seal: Seal, metrics: Metrics) {
    this.#leaders = leaders;
    this.#seal = seal;
    this.#metrics = metrics;
  }

  /**
   * Another server's description of the request; null for a client's own. Throws `agent_elsewhere` if the other mistook
   * this server for another.
   */
  admit(request: FastifyRequest, reply: FastifyReply): Passport | null {
    const passport = this.#passportOf(request.raw);
    if (passport === "misdirected") throw notLeading(reply);
    if (passport) request.passport = passport;
    return passport;
  }

  /**
   * Forwards a request if another server must handle it; returns false if this one must. Call it before the body is
   * parsed and, with `parsed`, after. Throws `agent_elsewhere`.
   */
  async pass(request: FastifyRequest, reply: FastifyReply, parsed: boolean): Promise<boolean> {
    const { route } = request.routeOptions.config;
    if (!route || route.servedBy === "any") return false;
    request.isNamedInBody ??= route.agentIn !== undefined && !this.#leaders.isOnlyHost;
    if (parsed !== request.isNamedInBody) return false;
    if (request.passport) {
      if (!this.#leaders.leads) throw notLeading(reply);
      count(this.#here, reply.raw);
      return false;
    }
    const { caller, ip, ticket = null, raw, body } = request;
    return this.#passOn({
      host: await this.#hostOf(request, route),
      orHere: route.servedBy === "leader, or any",
      passport: { address: ip, caller, ticket, traceparent: caller.span?.traceparent ?? null },
      ...(parsed ? { body: Buffer.from(JSON.stringify(body ?? null)) } : {}),
      ...(route.takesBytes === "stream" ? { body: null } : {}),
      passage: {
        request: raw,
        response: reply.raw,
        isUpgrade: request.ws === true,
        answerHeaders: () => reply.getHeaders() as OutgoingHttpHeaders,
        begun: () => void reply.hijack(),
      },
    });
  }

  /** Like `pass`, for a request to an agent's page, which is not part of the API. `address` is the client's. */
  async passPage(
    { accountId, name }: { accountId: string; name: string },
    page: Pick<Passage, "request" | "response" | "isUpgrade">,
    address: string,
  ): Promise<boolean> {
    if (this.#passportOf(page.request) !== null) return false;
    const host = await this.#hostOfAgent(accountId, { name }, null);
    const passage = { ...page, answerHeaders: () => ({}), begun: () => {} };
    return this.#passOn({
      host,
      orHere: false,
      passport: { address, caller: null, ticket: null, traceparent: null },
      passage,
      body: null,
    });
  }

  /**
   * Forwards a POST of JSON that arrived inside another request, with that request's caller, to the leader of the
   * agent's host. Returns null if this server leads. Throws `agent_elsewhere`, and the reason of `gone`.
   */
  async ask(
    within: FastifyRequest,
    { agent, path, body, continues }: Inner,
    gone: AbortSignal,
  ): Promise<Response | null> {
    const host = await this.#hostOfAgent(within.caller.accountId, { name: agent }, within.caller);
    if (host === this.#leaders.host) return null;
    const { caller, ip, passport: before } = within;
    const passport = {
      address: before?.address ?? ip,
      caller,
      ticket: null,
      traceparent: caller.span?.traceparent ?? null,
      continues: continues ?? null,
    };
    const until = performance.now() + takeOverMs;
    for (let refused = false; ; refused = true) {
      const { server, url } = await this.#leaders.leaderOf(host, refused, until, gone);
      const answer = await fetch(`${url}${path}`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          [passportHeader]: sealPassport(this.#seal, server, `POST ${path}`, passport),
        },
        body: JSON.stringify(body),
        signal: gone,
      }).catch((error: Error) => {
        gone.throwIfAborted();
        // No server listened, so the request was not handled.
        if ((error.cause as NodeJS.ErrnoException | undefined)?.code === "ECONNREFUSED") return null;
        throw lost();
      });
      const end = answer === null || answer.headers.has(notLeadingHeader) ? "refused" : "answered";
      this.#metrics.requestPassedOn(end);
      if (end === "answered") return answer;
    }
  }

  /** The client's address, for a request that another server has forwarded; null for a client's own. */
  addressOf(request: IncomingMessage): string | null {
    const passport = this.#passportOf(request);
    return passport && passport !== "misdirected" ? passport.address : null;
  }

  /**
   * Resolves when the requests that this server handles as the leader are answered or streaming, after at most `ms`.
   */
  async settled(ms: number): Promise<void> {
    await answered([this.#here], ms);
  }

  /** Resolves when all requests are answered or streaming, after at most `ms`. Then closes the remaining ones. */
  async drain(ms: number): Promise<void> {
    await answered([this.#here, this.#passed], ms);
    if (this.#here.size + this.#passed.size > 0) await sleep(lastWordsMs);
    for (const socket of [...this.#here.values(), ...this.#passed.values()]) socket?.destroy();
  }

  async #passOn(errand: Errand): Promise<boolean> {
    const { host, passage } = errand;
    const { response } = passage;
    if (host === this.#leaders.host && this.#leaders.leads) {
      count(this.#here, response);
      return false;
    }
    count(this.#passed, response);
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const until = performance.now() + takeOverMs;
    let body: Buffer | null | undefined;
    for (let refused = false; ; refused = true) {
      if (errand.orHere && (refused || !this.#leaders.known(host)?.isValid)) return false;
      const leader = await this.#leaders.leaderOf(host, refused, until, gone.signal);
      const isThis = leader.server === this.#leaders.server;
      if (isThis && !this.#leaders.leads) continue;
      // This server has become the leader. It sends the part of the body that it has already read to itself.
      if (isThis && !passage.request.readableDidRead) {
        this.#passed.delete(response);
        count(this.#here, response);
        return false;
      }
      if (body === undefined) body = await bodyOf(errand);
      errand.passport.caller?.span?.mark("passed on");
      const end = await relay(leader.url, passage, body, this.#passportFor(leader, errand));
      this.#metrics.requestPassedOn(end);
      if (end === "answered") return true;
      if (!isRepeatable(end, passage, body)) throw lost();
    }
  }

  #passportFor({ server }: HostLease, { passport, passage }: Errand): Record<string, string> {
    return { [passportHeader]: sealPassport(this.#seal, server, nameOf(passage.request), passport) };
  }

  #passportOf(request: IncomingMessage): Passport | "misdirected" | null {
    return openPassport(this.#seal, this.#leaders.server, nameOf(request), request.headers[passportHeader]);
  }

  async #hostOf({ params, caller, body }: FastifyRequest, route: Route): Promise<string> {
    const agent = agentOf(params as { name?: string; responseId?: string }, body, route);
    return agent === null ? this.#leaders.host : this.#hostOfAgent(caller.accountId, agent, caller);
  }

  /** An agent that does not exist for the viewer is not found by this host's leader. */
  async #hostOfAgent(accountId: string, agent: AgentReference, viewer: Viewer | null): Promise<string> {
    const { host, isOnlyHost } = this.#leaders;
    return isOnlyHost ? host : ((await this.#leaders.hostOf(accountId, agent, viewer)) ?? host);
  }
}

/** Resolves when all of these are being answered, or `ms` have passed. */
async function answered(open: readonly Open[], ms: number): Promise<void> {
  // A response that has become a tunnel has lost its socket.
  const waits = ({ headersSent, socket }: ServerResponse) => !headersSent && socket !== null;
  const isAnyOpen = () => open.some((each) => [...each.keys()].some(waits));
  for (const until = performance.now() + ms; isAnyOpen() && performance.now() < until; ) await sleep(pollMs);
}

function count(open: Open, response: ServerResponse): void {
  const { socket } = response;
  open.set(response, socket);
  const leave = () => {
    open.delete(response);
    socket?.off("close", leave);
  };
  response.once("close", leave);
  // A response that has become a tunnel reports no end.
  socket?.once("close", leave);
}

/** The agent that a request is about; null without one. */
function agentOf(
  { name, responseId }: { name?: string; responseId?: string },
  body: unknown,
  route: Route,
): AgentReference | null {
  if (responseId !== undefined) {
    const response = fromResponseId(responseId);
    return isUuid(response) ? { response } : null;
  }
  const given = route.servedBy === "own leader" ? nameIn(body, route) : name;
  return typeof given === "string" ? { name: given } : null;
}

/** The agent's name in a body of any shape. */
function nameIn(body: unknown, { agentIn: field }: Route): unknown {
  if (field === "calls")
    return [body]
      .flat()
      .map(agentOfCall)
      .find((name) => name !== undefined);
  const { model, from } = (body ?? {}) as { model?: unknown; from?: { agent?: unknown } };
  return field === "model" ? model : from?.agent;
}

/** The agent that a JSON-RPC message names: as a tool's argument, in a task's id, or in the id of a request of ours. */
function agentOfCall(message: unknown): unknown {
  const { id, method, params } = (message ?? {}) as {
    id?: unknown;
    method?: unknown;
    params?: { arguments?: { agent?: unknown }; taskId?: unknown };
  };
  return params?.arguments?.agent ?? placeIn(params?.taskId ?? (method === undefined ? id : undefined))?.agent;
}

/** The complete body; null if it must be streamed because it is large or its size is unknown. */
async function bodyOf({ body, passage: { request } }: Errand): Promise<Buffer | null> {
  const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers;
  if (encoding === undefined && length === "0") return Buffer.alloc(0);
  if (body !== undefined) return body;
  return encoding !== undefined || Number(length) > maximumKept ? null : buffer(request);
}

/** Whether the request may be sent to the next leader: it was not handled, or repeating it is harmless. */
function isRepeatable(end: "refused" | "unknown", { request, isUpgrade }: Passage, body: Buffer | null): boolean {
  if (body === null) return end === "refused" && !request.readableDidRead;
  if (end === "refused") return true;
  const isRead = request.method === "GET" || request.method === "HEAD";
  return !isUpgrade && (isRead || request.headers["idempotency-key"] !== undefined);
}

/** The purpose of a passport. */
function nameOf({ method, url }: IncomingMessage): string {
  return `${method} ${url}`;
}

function notLeading(reply: FastifyReply): BerthError {
  reply.header(notLeadingHeader, "1");
  return new BerthError("agent_elsewhere", "This server does not lead the agent's host.");
}

function lost(): BerthError {
  return new BerthError("agent_elsewhere", "The server that leads the agent's host was lost before it answered.");
}
