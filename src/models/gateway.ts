import { createServer, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { setImmediate as immediate, setTimeout as sleep } from "node:timers/promises";
import type { Fault } from "../contract/agents.ts";
import {
  agentsPath,
  connectionWindowBytes,
  maximumSessionMegabytes as maxSessionMemory,
  skillsPath,
  streamWindowBytes,
  tunnelHeader,
} from "../contract/guest.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { CallRates } from "./call-rate.ts";
import { type Candidate, candidates, type GuestCall, RestingModels } from "./candidates.ts";
import { Charge, isShort, type Payer, type Tell } from "./charge.ts";
import type { Framing } from "./framing.ts";
import {
  answer,
  endSpan,
  hold,
  type ModelRequest,
  type ModelSettings,
  type ModelTurn,
  refuse,
  relay,
} from "./model-request.ts";
import type { PreparedRequest } from "./preparation.ts";
import { Preparations } from "./preparations.ts";
import type { PricedModel, Prices } from "./prices.ts";
import { beginningOf, LoginFailed, type ModelAnswer, type ModelCall, type Provider, Unreachable } from "./provider.ts";
import { loggedOut, type Refusal, refusalOf, short, stalled, unpriced, unreachable } from "./refusal.ts";
import { problemOf } from "./remote-work.ts";
import { RequestBodies } from "./request-body.ts";
import { Silence } from "./silence.ts";
import { callAt, nearestWire } from "./wires/offered.ts";
import type { Wire } from "./wires/wire.ts";

/** Concurrent calls of one machine: each request is held in memory. */
const maximumCalls = 16;
/** Concurrent streams of one machine, including its connections to other hosts and its refused calls. */
const maximumStreams = 1_024;
const tooManyPauseMs = 1_000;
/** Pause before the first retry; doubled each time. */
const firstRetryMs = 500;

/** The agent that a guest's calls are made for. */
export interface Caller {
  /** Identifies the agent to the provider for abuse checks, and reveals nothing else about it. */
  id: string;
  /** The id of the agent's account. */
  account(): Promise<string>;
  /** For calls outside turns. */
  settings(): Promise<ModelSettings>;
  /** The running turn, if any. */
  turn(): ModelTurn | null;
  /** The provider of a call, or why there is none. `model`: the agent's; null leaves it to the runtime. */
  provider(wire: Wire, model: string | null): Promise<ChosenProvider | Refusal>;
  /** The account and key that pay for a call that starts now. */
  payer(): Payer;
  /** Whether the agent's egress rules allow every public host. Its provider may then reach them too. */
  mayReachAll(): Promise<boolean>;
  /**
   * Serves a CONNECT to `HOST:PORT`, which is egress. `name` is the tunnel's name, if its later bytes may go over a
   * download. Without this function all connections are refused.
   */
  tunnel?(stream: ServerHttp2Stream, authority: string, name: string | null): void;
  /**
   * Serves a request for the tools with which the agent calls other agents, and reports the number of bytes read.
   * Without it there are none.
   */
  otherAgents?(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, read: (bytes: number) => void): Promise<void>;
  /** Sends the files of a skill, by the rest of the path. Without it there are none. */
  skill?(stream: ServerHttp2Stream, path: string): Promise<void>;
}

/** The provider that answers a call. */
export interface ChosenProvider {
  /** The first part of its models' ids. */
  name: string;
  kind: PricedModel["kind"];
  baseUrl: string | null;
  /** Null: it takes the wire as it is. */
  framing: Framing["kind"] | null;
  /** Whether the workspace pays it. */
  isOwn: boolean;
  ask: Provider;
}

export interface GatewayOptions {
  prices: Prices;
  /** Hosted tools that every agent may use, whatever its egress rules and the tool's price (see `RemoteWork`). */
  hostedTools: readonly string[];
  /** Abandon a call after this many silent milliseconds. */
  silenceMs: number;
  /** Retry transient errors of a turn's calls for this many milliseconds. */
  retryMs: number;
  /** Null: calls are not measured. */
  metrics: Pick<Metrics, "modelAnswered" | "modelUsed" | "modelEnded"> | null;
  warn: (message: string, error: unknown) => void;
}

/**
 * Serves models to guests, over the uplink of each machine. A guest is identified by its connection: its requests carry
 * no key, and the providers' keys stay in this process. Answers are forwarded byte for byte.
 */
export class Gateway {
  readonly #options: GatewayOptions;
  /** Calls that are running or not yet paid. */
  readonly #calls = new Set<Promise<void>>();
  readonly #bodies = new RequestBodies();
  readonly #rates = new CallRates();
  readonly #preparations = new Preparations();
  readonly #resting = new RestingModels();

  constructor(options: GatewayOptions) {
    this.#options = options;
  }

  /** Resolves when all calls have ended and are paid. Call it after the uplinks have ended. */
  async close(): Promise<void> {
    await Promise.all(this.#calls);
    await this.#preparations.close();
  }

  /** Serves one machine's uplink until the connection ends. */
  serve(uplink: Socket, caller: Caller): void {
    const settings = { initialWindowSize: streamWindowBytes, maxConcurrentStreams: maximumStreams };
    const server = createServer({ settings, maxSessionMemory });
    server.on("sessionError", () => {});
    server.on("session", (session) => session.setLocalWindowSize(connectionWindowBytes));
    let open = 0;
    this.#rates.sweep();
    server.on("stream", (stream, headers) => {
      stream.on("error", () => {});
      if (headers[":method"] === "CONNECT" && caller.tunnel) {
        const name = headers[tunnelHeader];
        return caller.tunnel(stream, String(headers[":authority"]), typeof name === "string" ? name : null);
      }
      const excess = open === maximumCalls ? `${maximumCalls} model calls at once` : this.#rates.of(caller.id).excess();
      if (excess) {
        stream.resume(); // Unread bytes would block the other streams.
        const told = nearestWire(String(headers[":path"])).error(429, `An agent's limit is ${excess}.`);
        return answer(stream, 429, told, tooManyPauseMs);
      }
      open++;
      const read = (bytes: number) => this.#rates.of(caller.id).count({ bytes });
      const call = (ownPath(stream, headers, caller, read) ?? this.#serve(stream, headers, caller))
        .catch((error: unknown) => {
          if (stream.destroyed) return; // The guest has disconnected.
          this.#options.warn("a model call failed", error);
          stream.close(2); // INTERNAL_ERROR: the guest's client sees a broken stream.
        })
        .finally(() => {
          open--;
          this.#calls.delete(call);
        });
      this.#calls.add(call);
    });
    server.emit("connection", uplink);
  }

  async #serve(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, caller: Caller): Promise<void> {
    const gone = new AbortController();
    stream.on("close", () => gone.abort());
    const address = String(headers[":path"]);
    const offered = callAt(address);
    if (!offered || headers[":method"] !== "POST") {
      const what = `${headers[":method"]} ${address.split("?")[0]}`;
      return answer(stream, 404, nearestWire(address).error(404, `${what} is not available to agents.`));
    }
    const { wire, model, query } = offered;
    if (wire.streams && !/[?&]alt=sse(&|$)/.test(address)) {
      return answer(stream, 400, wire.error(400, "A stream consists of server-sent events: add ?alt=sse."));
    }
    // Loaded while the request is still arriving.
    const outsideOfTurns = caller.turn() ? null : caller.settings();
    outsideOfTurns?.catch(() => {}); // Handled below.
    // Kept in memory until the call ends: it may be retried.
    using read = await this.#bodies.read({
      stream,
      holder: { agent: caller.id, account: await accountOf(caller) },
      contentLength: headers["content-length"],
      signal: gone.signal,
      late: () => {
        answer(stream, 408, wire.error(408, "A request's body must arrive within seconds."));
        stream.close();
      },
    });
    const { body, size } = read;
    this.#rates.of(caller.id).count({ bytes: size });
    if (!body) return answer(stream, 413, wire.error(413, "A request is limited to 32 MiB."));
    const turn = caller.turn();
    using _ = turn?.callModel();
    const settings = turn?.settings ?? (await (outsideOfTurns ?? caller.settings()));
    const call: GuestCall = {
      ...{ stream, wire, model, query, headers, caller, turn, settings, body, gone: gone.signal },
    };
    const options = await candidates(call, this.#resting);
    const [{ id, replaces }] = options;
    if (replaces) await turn?.fellBack(replaces.id, id, replaces.fault);
    // Awaited, since the body is held until then.
    for (const [index, option] of options.entries()) {
      const next = options[index + 1] ?? null;
      const fault = await this.#attempt(call, option, next !== null);
      if (fault === null || next === null) return;
      this.#resting.rest(caller.id, option.id, fault);
      await turn?.fellBack(option.id, next.id, fault);
    }
  }

  /** Makes a call of one model. Returns why another one may answer, if `mayFallBack`; null: the guest has its answer. */
  async #attempt(guest: GuestCall, { chosen, name }: Candidate, mayFallBack: boolean): Promise<Fault | null> {
    const { stream, wire, headers, caller, turn, settings, gone } = guest;
    const owner = { id: caller.id, instructions: settings.instructions };
    const framing = "name" in chosen && chosen.framing ? { kind: chosen.framing, betas: betasIn(headers) } : null;
    // A thread takes the body that it prepares.
    const body = mayFallBack ? Buffer.from(guest.body) : guest.body;
    const model = name ?? guest.model;
    const request = await this.#preparations.prepare({ path: wire.path, body, owner, framing, model }, gone);
    this.#rates.of(caller.id).count({ values: request.values });
    if ("problem" in request) return answered(stream, wire, request.problem);
    const isOwn = "name" in chosen && chosen.isOwn;
    const priced = pricedModel(chosen, wire, request);
    const problem = await problemOf({ model: priced, work: request.remote, isOwn }, this.#options, caller);
    if (problem) return answered(stream, wire, problem);
    if (wire.generates) turn?.asked();
    const over = turn ? AbortSignal.any([gone, turn.interrupted]) : gone;
    const modelRequest: ModelRequest = {
      ...{ stream, wire, model: priced, turn, gone, over, mayFallBack },
      ...{ charge: null, meter: null, outcome: "gone", span: null },
    };
    const { model: called, streamed } = request;
    const call = { wire, model: called, streamed, query: guest.query, headers, body: request.body, signal: over };
    return this.#perform(modelRequest, request, chosen, call, caller);
  }

  /** Makes a call, and pays for it where it generates text. Returns what `#attempt` does. */
  async #perform(
    modelRequest: ModelRequest,
    request: PreparedRequest,
    chosen: ChosenProvider | Refusal,
    call: ModelCall,
    caller: Caller,
  ): Promise<Fault | null> {
    const { wire, turn, model } = modelRequest;
    if (!("name" in chosen)) return refused(modelRequest, chosen);
    if (!wire.generates) return this.#pass(modelRequest, chosen.ask, call);
    modelRequest.span = turn?.called(model) ?? null;
    try {
      const isHeld = await this.#charge(modelRequest, request, chosen.isOwn, caller.payer());
      return isHeld ? await this.#pay(modelRequest, chosen.ask, call) : null;
    } finally {
      this.#note(modelRequest);
    }
  }

  /** Makes a call whose credits are held, and pays for it. Returns what `#attempt` does. */
  async #pay(modelRequest: ModelRequest, provider: Provider, call: ModelCall): Promise<Fault | null> {
    try {
      return await this.#pass(modelRequest, provider, call);
    } finally {
      await immediate(); // The answer leaves first.
      // If the guest has disconnected, the received part is charged even of an answer that is not streamed.
      modelRequest.meter?.finish();
      await modelRequest.charge?.settle(modelRequest.meter);
    }
  }

  /** Measures a finished call, and ends its span. */
  #note({ model, outcome, span, meter, charge }: ModelRequest): void {
    this.#options.metrics?.modelEnded(model.kind, outcome);
    if (charge) this.#options.metrics?.modelUsed(model.kind, charge.used.tokens, charge.used.microCredits);
    const { input, output } = meter?.tokens ?? {};
    span?.add({
      ...(input === undefined ? {} : { "gen_ai.usage.input_tokens": input }),
      ...(output === undefined ? {} : { "gen_ai.usage.output_tokens": output }),
    });
    endSpan(span, outcome);
  }

  /** Holds credits for the call. Returns false after responding that the call cannot be made. */
  async #charge(modelRequest: ModelRequest, request: PreparedRequest, isOwn: boolean, payer: Payer): Promise<boolean> {
    const { model, turn, over } = modelRequest;
    const { prices } = this.#options;
    const tell: Tell = (...used) => turn?.used(...used);
    try {
      modelRequest.charge = await Charge.open({ request, model, isOwn, prices, payer, tell }, over);
      if (!modelRequest.charge) await refuse(modelRequest, unpriced(model.id));
      return modelRequest.charge !== null;
    } catch (error) {
      if (isShort(error)) await refuse(modelRequest, short(error));
      else if (over.aborted) await hold(modelRequest);
      else throw error;
      return false;
    }
  }

  /** Returns what `#attempt` does. */
  async #pass(modelRequest: ModelRequest, provider: Provider, call: ModelCall): Promise<Fault | null> {
    const begun = performance.now();
    for (let pause = firstRetryMs; ; pause *= 2) {
      const silence = new Silence(this.#options.silenceMs);
      const unpaid = modelRequest.charge?.refused;
      const signal = AbortSignal.any([call.signal, silence.signal, ...(unpaid ? [unpaid] : [])]);
      try {
        const outcome = await ask(provider, { ...call, signal }, silence);
        await modelRequest.charge?.held();
        if (!("fault" in outcome)) {
          this.#options.metrics?.modelAnswered(modelRequest.model.kind, (performance.now() - begun) / 1000);
          await relay(modelRequest, outcome, silence);
          return null;
        }
        const isAway = outcome.transient || outcome.fault.code === "model_stalled";
        if (isAway && modelRequest.mayFallBack) {
          modelRequest.outcome = outcome.fault.code;
          return outcome.fault;
        }
        const wait = outcome.retryAfterMs ?? pause;
        const late = performance.now() - begun + wait > this.#options.retryMs;
        if (!modelRequest.turn || !outcome.transient || late) return await refused(modelRequest, outcome);
        modelRequest.span?.mark("retry", { "error.type": outcome.fault.code });
        await sleep(wait, undefined, { signal: modelRequest.over });
      } catch (error) {
        if (modelRequest.over.aborted) return await hold(modelRequest).then(() => null);
        if (!unpaid?.aborted) throw error;
        if (!isShort(unpaid.reason)) throw unpaid.reason;
        return await refused(modelRequest, short(unpaid.reason));
      } finally {
        silence.end();
      }
    }
  }
}

/** Serves a path that is not a provider's; null: it is one's. */
function ownPath(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  caller: Caller,
  read: (bytes: number) => void,
): Promise<void> | null {
  const path = String(headers[":path"]);
  if (caller.otherAgents && path.split("?", 1)[0] === agentsPath) return caller.otherAgents(stream, headers, read);
  if (!caller.skill || !path.startsWith(skillsPath) || headers[":method"] !== "GET") return null;
  stream.resume();
  return caller.skill(stream, path.slice(skillsPath.length));
}

async function refused(modelRequest: ModelRequest, refusal: Refusal): Promise<null> {
  await refuse(modelRequest, refusal);
  return null;
}

function answered(stream: ServerHttp2Stream, wire: Wire, problem: string): null {
  answer(stream, 400, wire.error(400, problem));
  return null;
}

/** Without the database, the agent counts as an account of its own. */
function accountOf(caller: Caller): Promise<string> {
  return caller.account().catch(() => caller.id);
}

/** A call that is refused is counted for the API's usual provider. */
function pricedModel(chosen: ChosenProvider | Refusal, wire: Wire, request: PreparedRequest): PricedModel {
  if (!("name" in chosen)) return { id: `${wire.provider}/${request.model}`, kind: wire.provider, baseUrl: null };
  const { name, kind, baseUrl } = chosen;
  return { id: kind === "demo" ? "demo/demo" : `${name}/${request.model}`, kind, baseUrl };
}

function betasIn(headers: IncomingHttpHeaders): string[] {
  return String(headers["anthropic-beta"] ?? "")
    .split(",")
    .map((beta) => beta.trim());
}

/** Makes one attempt. Returns an answer that has started, or why there is none. */
async function ask(provider: Provider, call: ModelCall, silence: Silence): Promise<ModelAnswer | Refusal> {
  try {
    const given = await provider(call);
    if (given.status < 400) return given;
    return refusalOf(given.status, await beginningOf(given.body), given.headers["retry-after"]);
  } catch (error) {
    if (silence.signal.aborted) return stalled(silence.ms);
    if (error instanceof Unreachable) return unreachable(error.message);
    if (error instanceof LoginFailed) return loggedOut(error);
    throw error;
  }
}
