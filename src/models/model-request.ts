import type { ServerHttp2Stream } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import type { Fault } from "../contract/agents.ts";
import type { ErrorCode } from "../contract/errors.ts";
import type { Span } from "../telemetry/span.ts";
import type { Charge, Tell } from "./charge.ts";
import { Meter } from "./meter.ts";
import type { PricedModel } from "./prices.ts";
import type { ModelAnswer } from "./provider.ts";
import { interrupted, type Refusal, refusalOf, stalled } from "./refusal.ts";
import type { Silence } from "./silence.ts";
import type { JsonObject, Reading, Wire } from "./wires/wire.ts";

/** How long a call of an ended turn is kept open for its runtime to be interrupted; it would retry otherwise. */
const holdMs = 10_000;

/** Settings of an agent's calls. */
export interface ModelSettings {
  /** `provider/name`; null leaves it to the runtime. */
  model: string | null;
  /** Models that answer where this one does not, in order. */
  fallbackModels: readonly string[];
  instructions: string | null;
}

/** The turn that a call belongs to. */
export interface ModelTurn {
  readonly settings: ModelSettings;
  /** Aborted when the turn was interrupted or has failed. */
  readonly interrupted: AbortSignal;
  /** Counts a model call until it is disposed. */
  callModel(): Disposable;
  /** A model call has started. */
  asked(): void;
  /** The span of a model call that is about to start; null if it is not traced. */
  called(model: PricedModel): Span | null;
  used(...counts: Parameters<Tell>): void;
  /** A call goes to another model, because this one was refused. Both as `provider/name`. Resolves when it is recorded. */
  fellBack(from: string, to: string, fault: Fault): Promise<void>;
  /** The provider has started to answer a call. */
  answered(): void;
  /**
   * A call has failed for good. Returns true if this has ended the turn: its runtime is then being interrupted and
   * needs no answer. `recoverable`: the runtime may be able to recover, so it gets the error.
   */
  refused(fault: Fault, recoverable: boolean): boolean;
}

export type ModelOutcome = "answered" | "gone" | ErrorCode;

/** A call in progress. */
export interface ModelRequest {
  stream: ServerHttp2Stream;
  wire: Wire;
  model: PricedModel;
  turn: ModelTurn | null;
  /** Null if the call costs nothing. */
  charge: Charge | null;
  /** The part of the answer received so far. */
  meter: Meter | null;
  /** The outcome: `answered`, `gone` (the client disconnected), or an error's code. */
  outcome: ModelOutcome;
  /** Null where it is not traced. */
  span: Span | null;
  /** Whether another model may answer where this one cannot. */
  mayFallBack: boolean;
  /** Aborted when the guest has disconnected. */
  gone: AbortSignal;
  /** Aborted when the guest has disconnected or the turn was interrupted. */
  over: AbortSignal;
}

/** Forwards an answer as fast as the guest reads it, and meters it. */
export async function relay(
  modelRequest: ModelRequest,
  { status, headers, body }: ModelAnswer,
  silence: Silence,
): Promise<void> {
  const { stream, wire, turn, charge, over } = modelRequest;
  if (wire.generates) turn?.answered();
  modelRequest.span?.add({ "http.response.status_code": status });
  modelRequest.span?.mark("first byte");
  stream.respond({ ":status": status, ...headers });
  const meter = new Meter(wire, headers["content-type"] ?? "");
  modelRequest.meter = meter;
  try {
    for await (const chunk of body) {
      silence.heard();
      const error = meter.see(chunk);
      charge?.count(meter);
      if (error && (await endedBy(modelRequest, error))) return;
      const fault = (await charge?.cover(meter)) ?? null;
      if (fault) return await cutOff(modelRequest, fault);
      if (!stream.write(chunk)) {
        silence.end(); // The guest is slow, not the provider.
        await drained(stream);
        silence.heard();
      }
      if (stream.destroyed) return;
    }
    const error = meter.finish();
    charge?.count(meter);
    if (error && (await endedBy(modelRequest, error))) return;
    if (!meter.ended) throw new Error("the answer is incomplete");
    modelRequest.outcome = "answered";
    stream.end();
  } catch {
    const fault = silence.signal.aborted ? stalled(silence.ms).fault : interrupted;
    if (!over.aborted) modelRequest.outcome = fault.code;
    if (over.aborted || (wire.generates && turn?.refused(fault, false))) return await hold(modelRequest);
    stream.close(2);
  }
}

/** Whether an error in the answer has ended the turn. */
async function endedBy(modelRequest: ModelRequest, error: NonNullable<Reading["error"]>): Promise<boolean> {
  const { turn, wire } = modelRequest;
  const { fault, recoverable } = refusalOf(error.status, error.message, undefined);
  modelRequest.outcome = fault.code;
  if (!wire.generates || !turn?.refused(fault, recoverable)) return false;
  await hold(modelRequest);
  return true;
}

/** Ends an answer when the credits run out. */
async function cutOff(modelRequest: ModelRequest, fault: Fault): Promise<void> {
  modelRequest.outcome = fault.code;
  if (modelRequest.turn?.refused(fault, false)) return hold(modelRequest);
  modelRequest.stream.close(2);
}

/** Responds to a call with a refusal, unless that ends the turn. */
export async function refuse(modelRequest: ModelRequest, refusal: Refusal): Promise<void> {
  const { stream, wire, turn } = modelRequest;
  const { fault, recoverable, status, body, retryAfterMs } = refusal;
  modelRequest.outcome = fault.code;
  modelRequest.span?.add({ "http.response.status_code": status });
  if (wire.generates && turn?.refused(fault, recoverable)) return hold(modelRequest);
  answer(stream, status, body ?? wire.error(status, fault.message), retryAfterMs);
}

/** Keeps a call of an ended turn open without an answer until its runtime disconnects. */
export async function hold({ stream, gone, span, outcome }: ModelRequest): Promise<void> {
  endSpan(span, outcome);
  await sleep(holdMs, undefined, { signal: gone, ref: false }).catch(() => {});
  stream.close(2);
}

/** Ends a call's span; a second time it does nothing. */
export function endSpan(span: Span | null, outcome: ModelOutcome): void {
  span?.add({ "berth.model.outcome": outcome });
  span?.end(outcome === "answered" || outcome === "gone" ? null : outcome);
}

/** Answers with an error. A string `body` is sent as it is, anything else as JSON. */
export function answer(
  stream: ServerHttp2Stream,
  status: number,
  body: JsonObject | string,
  retryAfterMs: number | null = null,
): void {
  if (stream.destroyed || stream.headersSent) return;
  const after = retryAfterMs === null ? {} : { "retry-after": String(Math.ceil(retryAfterMs / 1000)) };
  stream.respond({ ":status": status, "content-type": "application/json", ...after });
  stream.end(typeof body === "string" ? body : JSON.stringify(body));
}

function drained(stream: ServerHttp2Stream): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off("drain", done).off("close", done);
      resolve();
    };
    stream.on("drain", done).on("close", done);
  });
}
