import type { JsonObject } from "../wires/wire.ts";

/** A part of the user's side of a conversation: the user's words, or a tool's result. */
export interface Part {
  kind: "words" | "result";
  text: string;
}

/** The demo model's next step: a text, or a tool call. */
export type Reply = { kind: "text"; text: string } | { kind: "tool"; tool: string; input: JsonObject };

export interface Tokens {
  input: number;
  output: number;
}

/** One event of a streamed answer. */
interface StreamEvent {
  /** The event's name, if the API names its events. */
  name?: string;
  /** A string is sent as it is, anything else as JSON. */
  data: unknown;
  /** The event carries a word and is followed by a short pause. */
  word?: boolean;
}

/** One model API as the demo model reads and writes it. */
export interface Dialect {
  /** The user's side of the conversation, turn by turn, and the offered tools; null for an invalid request. */
  read(request: JsonObject): { turns: Part[][]; tools: string[] } | null;
  whole(reply: Reply, model: string, tokens: Tokens): JsonObject;
  stream(reply: Reply, model: string, tokens: Tokens): Iterable<StreamEvent>;
}

/** Unique because it is made on the host: warm clones of a guest would repeat each other's. */
export function newId(prefix: string): string {
  return `${prefix}${crypto.randomUUID().replaceAll("-", "")}`;
}

/** The shell tool's input. Codex's has a name of its own for the command; the others need one of the two fields. */
export function shellInput(tool: string, command: string): JsonObject {
  if (tool === "exec_command") return { cmd: command };
  return { command, description: "Run the user's command" };
}

export function wordsIn(text: string): string[] {
  return text.split(/(?<=\s)(?=\S)/);
}

/** The text of a message's content, which is a string or a list of blocks. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map(textOfBlock).join("\n");
}

/** The text of a block. The demonstration model sees of an image that there is one. */
export function textOfBlock(block: { type?: unknown; text?: unknown } | null): string {
  if (typeof block?.text === "string") return block.text;
  return /^(image|image_url|input_image)$/.test(String(block?.type)) ? "(an image)" : "";
}
