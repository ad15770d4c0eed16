import type { TokenCounts } from "../../billing/ledger.ts";
import type { WireName } from "../../contract/providers.ts";

export type JsonObject = Record<string, unknown>;

/** The agent's additions to a request and replacements in it. */
export interface Owner {
  /** Identifies the agent to the provider for abuse checks, and reveals nothing else about it. */
  id: string;
  instructions: string | null;
}

/** Work that a request makes the provider itself do: run a tool, or fetch a file. */
export interface RemoteWork {
  /** The tool's type without its version, `mcp`, `prompt`, or `remote_files` for files given by URL. */
  name: string;
  /** Whether its cost is counted, or included in the price of tokens. */
  priced: boolean;
}

/** The content of one event of an answer, or of the complete answer. */
export interface Reading {
  tokens?: TokenCounts;
  /** Newly written text, reasoning or tool input. */
  text?: string;
  /** This completes the answer. */
  end?: true;
  /** The provider failed mid-answer. `status`: as of a plain error response. */
  error?: { status: number; message: string };
}

/** One model API as guests use it: the gateway's knowledge about its requests and answers. */
export interface Wire {
  name: WireName;
  /** The usual provider: of calls by agents whose model is another API's. */
  provider: "anthropic" | "openai" | "google";
  /**
   * Path below the provider's name in a guest's request, and below the provider's address. `{model}` stands for the model's
   * name.
   */
  path: string;
  /** Whether answers stream; null: the request's `stream` says it. */
  streams: boolean | null;
  /** It generates text, rather than counting tokens. */
  generates: boolean;
  /**
   * Adds the agent's instructions, and replaces user and session ids. A runtime makes up these ids in a process that
   * was already warm in the template, so every clone has the same ones. Also selects the provider's standard tariff,
   * which credits are charged by.
   */
  adapt(request: JsonObject, owner: Owner): void;
  /** Work of the provider itself, to which the agent's egress rules do not apply. */
  remoteWork(request: JsonObject): RemoteWork[];
  /** Reads the JSON of one event or of a complete answer. */
  read(event: JsonObject): Reading;
  /** An error in the API's own shape, for its clients. */
  error(status: number, message: string): JsonObject;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The objects in a list; empty for anything else. */
export function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** A tool's type without its version: `web_search` for `web_search_20250305` and `web_search_preview`. */
export function withoutVersion(type: string): string {
  return type.replace(/(_preview)?(_\d{4,8}|_\d{4}_\d{2}_\d{2})?$/, "");
}

/** Whether the provider would fetch a file from this URL; a `data:` URL contains the file. */
export function isRemote(address: unknown): boolean {
  return typeof address === "string" && !/^data:/i.test(address);
}

/** The object at a key, or an empty one. */
export function objectAt(value: unknown, key: string): JsonObject {
  const inner = isObject(value) ? value[key] : undefined;
  return isObject(inner) ? inner : {};
}

/** The value if it is a string, otherwise an empty string. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A number as a part of `TokenCounts`; empty for anything else. */
export function count(name: keyof TokenCounts, value: unknown): TokenCounts {
  return typeof value === "number" && value >= 0 ? { [name]: value } : {};
}
