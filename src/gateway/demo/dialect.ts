import type { JsonObject } from "../wires/wire.ts";

/** A part of what the user's side has said: the user's words, or a tool's result. */
export interface Part {
  kind: "words" | "result";
  text: string;
}

/** What the demonstration model does next: say something, or call the runtime's shell tool. */
export type Reply = { kind: "text"; text: string } | { kind: "tool"; tool: string; command: string };

export interface Tokens {
  input: number;
  output: number;
}

/** One event of a streamed answer. */
interface StreamEvent {
  /** The event's name, where the API gives its events one. */
  name?: string;
  /** A text goes as it is, anything else as JSON. */
  data: unknown;
  /** It brings a word, after which a reader is given a moment. */
  word?: boolean;
}

/** One model API as the demonstration model reads and writes it. */
export interface Dialect {
  /** The user's side of the conversation, turn by turn, and the tools that are offered; null when it is neither. */
  read(request: JsonObject): { turns: Part[][]; tools: string[] } | null;
  whole(reply: Reply, model: string, tokens: Tokens): JsonObject;
  stream(reply: Reply, model: string, tokens: Tokens): Iterable<StreamEvent>;
}

/** Unique, since it is made here and not in a guest: warm clones would repeat theirs. */
export function newId(prefix: string): string {
  return `${prefix}${crypto.randomUUID().replaceAll("-", "")}`;
}

/** What the shell tool is called with; runtimes ask for one field or the other, and take both. */
export function shellInput(command: string): JsonObject {
  return { command, description: "Run the user's command" };
}

export function wordsIn(text: string): string[] {
  return text.split(/(?<=\s)(?=\S)/);
}

/** The text of a content that is one, or a list of blocks of which some are. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((block: { text?: unknown }) => (typeof block?.text === "string" ? block.text : "")).join("\n");
}
