import { BerthError } from "../../contract/errors.ts";
import type { ChatMessage, InputItem } from "../../contract/openai.ts";
import { storableValue } from "../../turns/storable.ts";
import { checked } from "../../uploads/content.ts";
import { type BroughtFile, type ContentPart, fileOf, withoutBytes } from "./attachments.ts";
import type { ChatMessages } from "./chats.ts";
import type { OpenedInput } from "./compaction.ts";
import { type EarlierMessage, earlierText } from "./earlier.ts";

/** The content of an OpenAI request for an agent. */
export interface Asked {
  /** The last user message; null if the request has function outputs after it. */
  message: string | null;
  files: readonly BroughtFile[];
  /** The texts of the system's and developer's messages. */
  instructions: string[];
  /** The last user message as a front end has it, and the messages before it. */
  messages: ChatMessages;
  /** The outputs of functions after the last user message, by the call's id. */
  outputs: Map<string, string>;
  /** The calls of functions among the items, by id. */
  callIds: ReadonlySet<string>;
  /** The items from the last user message on, without the bytes of its files. */
  items: InputItem[];
}

/** The input of `POST /v1/responses`. Throws `request_invalid`. */
export function askedOfInput({ items, compacted, record }: OpenedInput): Asked {
  const isMessage = ({ type = "message" }: InputItem) => type === "message";
  return asked(items, {
    field: "input",
    record,
    isEarlier: (item) => compacted.has(item),
    callIdsOf: ({ call_id: id }) => (typeof id === "string" ? [id] : []),
    roleOf: (item) => (isMessage(item) ? item.role : undefined),
    outputOf: (item) =>
      item.type === "function_call_output"
        ? { callId: String(item.call_id), output: textOf(item.output, "output") }
        : null,
  });
}

/** The messages of `POST /v1/chat/completions`. Throws `request_invalid`. */
export function askedOfMessages(messages: readonly ChatMessage[]): Asked {
  return asked(messages, {
    field: "messages",
    record: null,
    isEarlier: () => false,
    callIdsOf: ({ tool_calls: calls }) => (calls ?? []).map(({ id }) => id),
    roleOf: ({ role }) => (role === "tool" ? undefined : role),
    outputOf: ({ role, tool_call_id: callId, content }) =>
      role === "tool" ? { callId: String(callId), output: textOf(content, "content") } : null,
  });
}

interface Reading<Item> {
  field: string;
  /** The record of a conversation before the items; null: none. */
  record: string | null;
  /** Whether the agent does not answer the item, since it was compacted. */
  isEarlier: (item: Item) => boolean;
  callIdsOf: (item: Item) => string[];
  roleOf: (item: Item) => unknown;
  outputOf: (item: Item) => { callId: string; output: string } | null;
}

function asked<Item extends object>(items: readonly Item[], reading: Reading<Item>): Asked {
  const { field, record, isEarlier, callIdsOf, roleOf, outputOf } = reading;
  const last = items.findLastIndex((item) => roleOf(item) === "user" && !isEarlier(item));
  const given = items.slice(Math.max(last, 0)).filter((item) => !isEarlier(item));
  const after = items.slice(last + 1);
  const outputs = new Map(after.flatMap((item) => mapOf(outputOf(item))));
  if (outputs.size === 0 && last < 0)
    throw invalid(`${field} has no user message; the last user message is the one that the agent answers.`);
  if (outputs.size === 0 && after.some((item) => roleOf(item) === "assistant")) {
    throw invalid(`${field} ends with an assistant message; it must end with a user message or function outputs.`);
  }
  const message = outputs.size > 0 ? null : messageOf(contentOf(items[last]!), `${field}.${last}`);
  const isSystem = (item: Item) => ["system", "developer"].includes(String(roleOf(item)));
  const instructions = items
    .filter(isSystem)
    .map((item) => textOf(contentOf(item), "content"))
    .filter((each) => each !== "");
  return {
    messages: {
      record,
      earlier: items.slice(0, Math.max(last, 0)).flatMap((item) => earlierOf(roleOf(item), contentOf(item))),
      text: last < 0 ? "" : earlierText(contentOf(items[last]!)),
    },
    message: message?.text ?? null,
    files: message?.files ?? [],
    instructions,
    outputs,
    callIds: new Set(items.flatMap(callIdsOf)),
    items: storableValue(given.map(toldOf)) as InputItem[],
  };
}

function earlierOf(role: unknown, content: unknown): EarlierMessage[] {
  if (role !== "user" && role !== "assistant") return [];
  const text = earlierText(content);
  // A call of a function has no text.
  return role === "assistant" && text === "" ? [] : [{ role, text }];
}

function contentOf(item: object): unknown {
  return (item as { content?: unknown }).content;
}

/** A user message: its text and its files. Throws `request_invalid`. */
function messageOf(content: unknown, field: string): { text: string; files: readonly BroughtFile[] } {
  const files: BroughtFile[] = [];
  const texts = !Array.isArray(content)
    ? content
    : content.filter((part: ContentPart | null, index) => {
        const file = part && fileOf(part, `${field}.content.${index}`);
        if (file) files.push(file);
        return !file;
      });
  return checked({ text: textOf(texts, "content"), files }, field);
}

/** The item without the bytes of its files, which are in the agent's machine. */
function toldOf<Item extends object>(item: Item): Item {
  const content = contentOf(item);
  return Array.isArray(content) ? { ...item, content: content.map(withoutBytes) } : item;
}

function mapOf(output: { callId: string; output: string } | null): [string, string][] {
  return output ? [[output.callId, output.output]] : [];
}

/** The text of a message's content: a string, or parts that are all texts. Throws `request_invalid`. */
function textOf(content: unknown, field: string): string {
  if (typeof content === "string") return content;
  if (content === null || content === undefined) return "";
  if (!Array.isArray(content)) throw invalid(`${field} must be a string or an array of parts.`);
  return content
    .map((part: unknown) => {
      const { type, text } = (part ?? {}) as { type?: unknown; text?: unknown };
      if (["input_text", "text", "output_text"].includes(String(type)) && typeof text === "string") return text;
      const name = JSON.stringify(type) ?? "undefined";
      throw invalid(
        `Content of type ${name} is not supported here: agents accept text, and images and files of users.`,
      );
    })
    .join("\n");
}

function invalid(message: string): BerthError {
  return new BerthError("request_invalid", message);
}
