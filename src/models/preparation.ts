import { type Structure, structureOf } from "../core/json-structure.ts";
import { inputTokens, maximumOutput } from "./estimate.ts";
import { type Framing, frame } from "./framing.ts";
import { wires } from "./wires/offered.ts";
import { isObject, type JsonObject, type Owner, type RemoteWork } from "./wires/wire.ts";

/** JSON values in one request. A conversation of a million tokens has about ten thousand. */
const maximumValues = 500_000;
/** Nesting depth of objects and lists. */
const maximumDepth = 200;
/** The model's name is stored with the cost of a call. */
const modelName = /^[\x20-\x7e]{0,200}$/;

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

/** A request as it came from the guest. */
export interface RawRequest<Body extends Uint8Array = Uint8Array> {
  /** The wire's path. */
  path: string;
  body: Body;
  owner: Owner;
  /** Null: the provider takes the wire as it is. */
  framing: Framing | null;
  /** The name of the model in place of the body's; null: the body's. */
  model: string | null;
}

/** Reads a request's body and adapts it to the agent. Takes time in proportion to the number of JSON values. */
export function prepare(raw: RawRequest): Preparation {
  const { values, depth } = structureOf(raw.body);
  return { values, ...read(raw, { values, depth }) };
}

function read(
  { path, body, owner, framing, model: another }: RawRequest,
  { values, depth }: Structure,
): PreparedRequest | { problem: string } {
  const wire = wires.get(path)!;
  if (values > maximumValues || depth > maximumDepth) {
    return { problem: `A request is limited to ${maximumValues} JSON values and ${maximumDepth} levels.` };
  }
  const request = parseObject(body);
  // A provider may accept input that is invalid here (UTF-16, NaN), and its answer would not be paid for.
  if (!request) return { problem: "A request must be a JSON object, in UTF-8." };
  if (another !== null) request.model = another;
  const model = request.model ?? "";
  if (typeof model !== "string" || !modelName.test(model)) {
    return { problem: "A model's name is limited to 200 printable ASCII characters." };
  }
  const remote = wire.remoteWork(request);
  wire.adapt(request, owner);
  const streamed = wire.streams ?? request.stream === true;
  // Google's own API is the same on its platform.
  if (framing && wire.generates && wire.name !== "gemini") frame(request, framing);
  return {
    model,
    streamed,
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
