import { type Structure, structureOf } from "../core/json-structure.ts";
import { inputTokens, maximumOutput } from "./estimate.ts";
import { chat } from "./wires/chat.ts";
import { countTokens, messages } from "./wires/messages.ts";
import { responses } from "./wires/responses.ts";
import { isObject, type JsonObject, type Owner, type RemoteWork, type Wire } from "./wires/wire.ts";

/** JSON values in one request. A conversation of a million tokens has about ten thousand. */
const maximumValues = 500_000;
/** Nesting depth of objects and lists. */
const maximumDepth = 200;
/** The model's name is stored with the cost of a call. */
const modelName = /^[\x20-\x7e]{0,200}$/;

/** The APIs by path, because a path can be passed to a thread. */
const wires = new Map<string, Wire>([messages, countTokens, chat, responses].map((wire) => [wire.path, wire]));

/** A guest's request, ready for its provider. */
export interface PreparedRequest {
  /** The model's name in the guest's request. */
  model: string;
  streamed: boolean;
  /** Estimates, for the credits to hold. */
  inputTokens: number;
  maximumOutput: number;
  /** Work that the provider itself would do: running tools or fetching files. */
  remote: RemoteWork[];
  /** The request as sent to the provider. */
  body: Uint8Array;
}

/** The request, or the reason for refusing it in words for the guest, and its number of JSON values. */
export type Preparation = { values: number } & (PreparedRequest | { problem: string });

/** Reads a request's body and adapts it to the agent. Takes time in proportion to the number of JSON values. */
export function prepare(path: string, body: Uint8Array, owner: Owner): Preparation {
  const { values, depth } = structureOf(body);
  return { values, ...read(wires.get(path)!, body, { values, depth }, owner) };
}

function read(
  wire: Wire,
  body: Uint8Array,
  { values, depth }: Structure,
  owner: Owner,
): PreparedRequest | { problem: string } {
  if (values > maximumValues || depth > maximumDepth) {
    return { problem: `A request is limited to ${maximumValues} JSON values and ${maximumDepth} levels.` };
  }
  const request = parseObject(body);
  // A provider may accept input that is invalid here (UTF-16, NaN), and its answer would not be paid for.
  if (!request) return { problem: "A request must be a JSON object, in UTF-8." };
  const model = request.model ?? "";
  if (typeof model !== "string" || !modelName.test(model)) {
    return { problem: "A model's name is limited to 200 printable ASCII characters." };
  }
  const remote = wire.remoteWork(request);
  wire.adapt(request, owner);
  return {
    model,
    streamed: request.stream === true,
    inputTokens: inputTokens(request),
    maximumOutput: maximumOutput(request),
    remote,
    body: Buffer.from(JSON.stringify(request)),
  };
}

function parseObject(body: Uint8Array): JsonObject | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.length).toString("utf8"));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
