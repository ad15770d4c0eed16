import type { ModelProvider } from "../../contract/models.ts";
import type { TokenCounts } from "../../service/ledger.ts";

export type JsonObject = Record<string, unknown>;

/** Who a call is made for, as far as its request is changed. */
export interface Owner {
  /** Names the agent to the provider, for its abuse checks; tells nothing about it. */
  id: string;
  instructions: string | null;
}

/** Something that a request has the provider itself do: run a tool, or fetch a file. */
export interface RemoteWork {
  /** The tool's type without its version, `mcp`, `prompt`, or `remote_files` for files that are given by address. */
  name: string;
  /** Whether what it costs is counted, or included in the price of tokens. */
  priced: boolean;
}

/** What one event of an answer (or the whole of it) tells. */
export interface Reading {
  tokens?: TokenCounts;
  /** What the model has written with it: words, reasoning, a tool's input. */
  text?: string;
  /** The answer is whole with this. */
  end?: true;
  /** The provider gave up in mid-answer. `status` is what it would have been as an answer of its own. */
  error?: { status: number; message: string };
}

/** One model API as guests speak it: all that the gateway must know of its requests and answers. */
export interface Wire {
  provider: Exclude<ModelProvider, "demo">;
  /** Its path, below the provider's name in a guest's request and below the provider's address. */
  path: string;
  /** It answers with a model's words, in contrast to counting tokens. */
  generates: boolean;
  /**
   * Makes the request the agent's: adds its owner's instructions, and replaces what names a user or a session. A
   * runtime makes these names up in a process that was warm in the template, so they are the same in every clone. Sets
   * the tariff to the provider's standard one, which is what credits are charged by.
   */
  adapt(request: JsonObject, owner: Owner): void;
  /** What the provider itself is to run or fetch. An agent's egress rules do not reach there. */
  remoteWork(request: JsonObject): RemoteWork[];
  /** Reads one event's JSON, or a whole answer's. */
  read(event: JsonObject): Reading;
  /** An error in the API's own shape, so that its clients understand it. */
  error(status: number, message: string): JsonObject;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The objects in a list; none for anything else. */
export function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** A tool's type without its version: `web_search` for `web_search_20250305` and `web_search_preview`. */
export function withoutVersion(type: string): string {
  return type.replace(/(_preview)?(_\d{4,8}|_\d{4}_\d{2}_\d{2})?$/, "");
}

/** Whether a file's address makes the provider fetch it; a `data:` address holds the file. */
export function isRemote(address: unknown): boolean {
  return typeof address === "string" && !/^data:/i.test(address);
}

/** The object at that key, or an empty one. */
export function objectAt(value: unknown, key: string): JsonObject {
  const inner = isObject(value) ? value[key] : undefined;
  return isObject(inner) ? inner : {};
}

/** The text that it is; empty for all else. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The number at that key, as a part of `TokenCounts`; nothing where there is none. */
export function count(name: keyof TokenCounts, value: unknown): TokenCounts {
  return typeof value === "number" && value >= 0 ? { [name]: value } : {};
}
