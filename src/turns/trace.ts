import type { UsageState } from "../billing/usage.ts";
import { statusAfter, type TurnEvent, type TurnStatus } from "../contract/chat.ts";
import type { PricedModel } from "../models/prices.ts";
import type { Span } from "../telemetry/span.ts";

/** The maximum number of spans of one turn's tools and model calls: a guest decides how many there are. */
const maximumParts = 200;
/** A valid model name of a provider; other names are replaced. */
const modelName = /^[\w.:@/-]{1,100}$/;

/**
 * The spans of a turn, as this server sees it:
 *
 *    turn
 *    ├─ machine   until the agent's machine is ready
 *    └─ guest     from the message to the last event
 *       ├─ start  until the runtime's first action: an event, or a model call
 *       ├─ model  each model call
 *       └─ tool   each tool
 *
 * All times are this server's, and all names are its own: a guest contributes only the arrival of events. Its channel
 * is on the same host, so an action and its observation are simultaneous.
 */
export class TurnTrace {
  readonly span: Span;
  #machine: Span | null = null;
  #guest: Span | null = null;
  #start: Span | null = null;
  readonly #tools = new Map<string, Span>();
  #parts = 0;
  #hasSpoken = false;

  constructor(span: Span) {
    this.span = span;
  }

  wants(): void {
    this.#endGuest("machine_lost");
    this.#machine?.end();
    this.#machine = this.span.begin("machine");
  }

  queued(position: number): void {
    this.#machine?.mark("queued", { "berth.queue.position": position });
  }

  ready(): void {
    this.#machine?.end();
    this.#machine = null;
  }

  sent(): void {
    this.#endGuest("connection_lost");
    this.#guest = this.span.begin("guest", {}, "client");
    this.#start = this.#guest.begin("start");
  }

  /** An event of the guest has arrived. */
  heard(event: TurnEvent): void {
    this.#begun();
    if (event.type === "response.output_text.delta" && !this.#hasSpoken) {
      this.#hasSpoken = true;
      this.span.mark("first text");
    }
    if (event.type === "response.tool_call.started" && !this.#tools.has(event.id)) {
      const tool = this.#part("tool");
      if (tool) this.#tools.set(event.id, tool);
    }
    if (event.type === "response.tool_call.completed") {
      this.#tools.get(event.id)?.end();
      this.#tools.delete(event.id);
    }
    if (statusAfter(event) !== "running") this.#endGuest(null);
  }

  /** A model call has started; null if there are too many. People name providers, so the kind stands for one. */
  called({ id, kind }: PricedModel): Span | null {
    this.#begun();
    const name = id.slice(id.indexOf("/") + 1);
    return this.#part("model", {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": kind,
      "gen_ai.request.model": modelName.test(name) ? name : "other",
    });
  }

  /** The turn has ended, and its end is stored. `code`: the error's code if it failed, else empty. */
  ended(outcome: TurnStatus, code: string, { input, output }: UsageState): void {
    this.#endAll(code || null);
    this.span.add({
      "berth.turn.outcome": outcome,
      "berth.turn.input_tokens": input,
      "berth.turn.output_tokens": output,
      ...(this.#parts > maximumParts ? { "berth.turn.parts_left_out": this.#parts - maximumParts } : {}),
    });
    this.span.end(code || null);
  }

  /** This server stops; the next one resumes the turn. */
  handedOn(): void {
    this.#endAll(null);
    this.span.add({ "berth.turn.handed_on": true });
    this.span.end();
  }

  #part(name: string, facts = {}): Span | null {
    if (++this.#parts > maximumParts) return null;
    return (this.#guest ?? this.span).begin(name, facts, name === "model" ? "client" : undefined);
  }

  #begun(): void {
    this.#start?.end();
    this.#start = null;
  }

  #endGuest(code: string | null): void {
    this.#begun();
    for (const tool of this.#tools.values()) tool.end(code);
    this.#tools.clear();
    this.#guest?.end(code);
    this.#guest = null;
  }

  #endAll(code: string | null): void {
    this.#machine?.end(code);
    this.#machine = null;
    this.#endGuest(code);
  }
}
