import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { Fault } from "../contract/agents.ts";
import { setRecent } from "../core/recent.ts";
import type { Caller, ChosenProvider } from "./gateway.ts";
import type { ModelSettings, ModelTurn } from "./model-request.ts";
import type { Refusal } from "./refusal.ts";
import type { Wire } from "./wires/wire.ts";

/** A guest's call of a model, with its whole body. */
export interface GuestCall {
  stream: ServerHttp2Stream;
  wire: Wire;
  /** The model that the path names; null: the body names it. */
  model: string | null;
  headers: IncomingHttpHeaders;
  /** With its question mark, or empty. */
  query: string;
  body: Buffer<ArrayBuffer>;
  caller: Caller;
  turn: ModelTurn | null;
  settings: ModelSettings;
  gone: AbortSignal;
}

/** A model that may answer a call. */
export interface Candidate {
  /** `provider/name`; of the first, the agent's model or `default`. */
  id: string;
  /** Null: the name in the guest's request. */
  name: string | null;
  chosen: ChosenProvider | Refusal;
  /** The agent's model, which failed a short time ago and is asked later; null: this is it, or it was asked already. */
  replaces: { id: string; fault: Fault } | null;
}

/** How long a model that failed is asked last. */
const restMs = 30_000;
const maximumResting = 10_000;

/** Models that failed a short time ago, by agent. Without this, each call would wait for a provider that is away. */
export class RestingModels {
  readonly #resting = new Map<string, { until: number; fault: Fault }>();

  rest(agent: string, model: string, fault: Fault): void {
    setRecent(this.#resting, `${agent} ${model}`, { until: performance.now() + restMs, fault }, maximumResting);
  }

  /** Why the model rests; null: it does not. */
  faultOf(agent: string, model: string): Fault | null {
    const resting = this.#resting.get(`${agent} ${model}`);
    return resting && resting.until > performance.now() ? resting.fault : null;
  }
}

/**
 * The models that may answer a call, in order: the agent's, then those of its fallbacks whose providers speak the wire. Those
 * that failed a short time ago come last. A count of tokens has no fallback.
 */
export async function candidates(
  { wire, caller, settings }: GuestCall,
  resting: RestingModels,
): Promise<[Candidate, ...Candidate[]]> {
  const { model, fallbackModels } = settings;
  const chosen = await caller.provider(wire, model);
  const first: Candidate = { id: model ?? "default", name: null, chosen, replaces: null };
  if (fallbackModels.length === 0 || !wire.generates) return [first];
  const others = await Promise.all(
    fallbackModels.map(async (id): Promise<Candidate | null> => {
      const slash = id.indexOf("/");
      const chosen = await caller.provider(wire, id);
      // Another API's provider answers calls of the usual provider instead.
      const isNamed = "name" in chosen && chosen.name === id.slice(0, slash);
      return isNamed ? { id, name: id.slice(slash + 1), chosen, replaces: null } : null;
    }),
  );
  const all = [first, ...others.filter((each) => each !== null)];
  const isResting = ({ id }: Candidate) => resting.faultOf(caller.id, id) !== null;
  const [head = first, ...rest] = [...all.filter((each) => !isResting(each)), ...all.filter(isResting)];
  const fault = head === first ? null : resting.faultOf(caller.id, first.id);
  return [{ ...head, replaces: fault && { id: first.id, fault } }, ...rest];
}
