import { randomUUID } from "node:crypto";
import { BerthError } from "../../contract/errors.ts";
import { hexOf, uuidOf } from "../../contract/ids.ts";
import { maximumKeptBytes, maximumKeptItems, type NewItem } from "../../contract/openai-conversations.ts";
import { storableValue } from "../../turns/storable.ts";
import type { PastTurn } from "../../turns/turn.ts";
import type { EarlierMessage } from "./earlier.ts";

/** A message from before a conversation's first response. */
export interface KeptItem {
  id: string;
  role: NewItem["role"];
  text: string;
}

/** An item as clients read it. */
export interface PresentItem {
  id: string;
  type: "message";
  role: KeptItem["role"];
  status: "in_progress" | "completed" | "incomplete";
  content: object[];
}

/** The items to keep. Throws `request_invalid`. */
export function keptItems(given: readonly NewItem[]): KeptItem[] {
  return storableValue(
    given.map(({ role, content }, index) => ({
      id: `msg_${hexOf(randomUUID())}`,
      role,
      text: typeof content === "string" ? content : content.map((part) => partText(part, index)).join("\n"),
    })),
  );
}

function partText(part: { type: string; text?: unknown }, index: number): string {
  if (["input_text", "output_text", "text"].includes(part.type) && typeof part.text === "string") return part.text;
  throw new BerthError(
    "request_invalid",
    `items.${index}.content: earlier messages have text only. Send images and files with the message that the agent answers.`,
  );
}

/** Throws `request_invalid` if a conversation may not keep so much. */
export function requireKeepable(items: readonly KeptItem[]): void {
  if (items.length > maximumKeptItems)
    throw new BerthError("request_invalid", `items: a conversation keeps up to ${maximumKeptItems} earlier messages.`);
  if (Buffer.byteLength(JSON.stringify(items)) > maximumKeptBytes) {
    const limit = `${maximumKeptBytes / 1024} KiB`;
    throw new BerthError("request_invalid", `items: a conversation keeps up to ${limit} of earlier messages.`);
  }
}

/** The messages for a replay, without those of the system. */
export function earlierOf(items: readonly KeptItem[]): EarlierMessage[] {
  return items.flatMap(({ role, text }) => (role === "user" || role === "assistant" ? [{ role, text }] : []));
}

/** The texts of the system's and developer's messages. */
export function instructionsOf(items: readonly KeptItem[]): string[] {
  return items.flatMap(({ role, text }) => ((role === "system" || role === "developer") && text ? [text] : []));
}

export function presentKept({ id, role, text }: KeptItem): PresentItem {
  return { id, type: "message", role, status: "completed", content: [textPart(role, text)] };
}

/** The message and the reply of a turn. */
export function presentTurn({ id, message, status, reply, replyTruncated, output }: PastTurn): PresentItem[] {
  const itemId = (kind: "in" | "out") => `msg_${hexOf(id)}_${kind}`;
  const text = output === null ? reply : JSON.stringify(output);
  const isWhole = status === "completed" && !(replyTruncated && output === null);
  const replyStatus = status === "running" ? "in_progress" : isWhole ? "completed" : "incomplete";
  return [
    {
      id: itemId("in"),
      type: "message",
      role: "user",
      status: "completed",
      content: [textPart("user", message)],
    },
    {
      id: itemId("out"),
      type: "message",
      role: "assistant",
      status: replyStatus,
      content: [textPart("assistant", text)],
    },
  ];
}

/** The id of the turn that an item belongs to; null: none. */
export function turnOfItem(itemId: string): string | null {
  const [, hex] = /^msg_([0-9a-f]{32})_(?:in|out)$/.exec(itemId) ?? [];
  return hex === undefined ? null : uuidOf(hex);
}

function textPart(role: KeptItem["role"], text: string): object {
  return role === "assistant"
    ? { type: "output_text", text, annotations: [], logprobs: [] }
    : { type: "input_text", text };
}
