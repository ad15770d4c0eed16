import { randomUUID } from "node:crypto";
import type { AppContext } from "../../context.ts";
import { BerthError } from "../../contract/errors.ts";
import { hexOf } from "../../contract/ids.ts";
import type { InputItem } from "../../contract/openai.ts";
import { earlierText } from "./earlier.ts";

/** The most characters of messages that a compaction keeps, as a retelling does, and the most of one message. */
const maximumCharacters = 100_000;
const maximumMessage = 20_000;
/** The most compaction items of a request. */
const maximumItems = 20;

const roles = ["user", "assistant", "system", "developer"];

interface CompactedMessage {
  role: string;
  content: string;
}

/** The sealed content of a compaction item. */
interface Compacted {
  /** The record of an agent's conversation; null: none. */
  record: string | null;
  /** Messages of the input, after the record. */
  messages: CompactedMessage[];
}

/** Input items, with the messages of compaction items in their place. */
export interface OpenedInput {
  items: readonly InputItem[];
  /** The messages out of compaction items: the agent does not answer them. */
  compacted: ReadonlySet<object>;
  record: string | null;
}

/** A compaction item: the end of the texts of a conversation, sealed for the workspace. */
export function compactionItem({ sealer }: Pick<AppContext, "sealer">, accountId: string, compacted: Compacted) {
  const text = JSON.stringify(compacted);
  const content = sealer.seal(text, contextOf(accountId)).toString("base64url");
  return { id: `cmp_${hexOf(randomUUID())}`, type: "compaction", encrypted_content: content };
}

/** The compacted form of an opened input: the last of its messages, and all instructions. */
export function compactedOf({ items, record }: OpenedInput, conversation: string | null): Compacted {
  const messages: CompactedMessage[] = [];
  let left = maximumCharacters;
  for (const { type = "message", role, content } of items.toReversed()) {
    if (type !== "message" || !roles.includes(String(role))) continue;
    const isInstruction = role === "system" || role === "developer";
    const text = shortened(earlierText(content));
    left -= text.length;
    if (text !== "" && (left >= 0 || isInstruction)) messages.unshift({ role: String(role), content: text });
  }
  return { record: conversation ?? record, messages };
}

/** Opens the compaction items of an input. Throws `request_invalid`. */
export function openInput(
  { sealer }: Pick<AppContext, "sealer">,
  accountId: string,
  input: string | readonly InputItem[],
): OpenedInput {
  if (typeof input === "string") {
    return { items: [{ type: "message", role: "user", content: input }], compacted: new Set(), record: null };
  }
  const compacted = new Set<object>();
  let record: string | null = null;
  let count = 0;
  const items = input.flatMap((item, index) => {
    if (item.type !== "compaction") return [item];
    if (++count > maximumItems) throw invalid(`input is limited to ${maximumItems} compaction items.`);
    const sealed = Buffer.from(String(item.encrypted_content), "base64url");
    const text = sealer.open(sealed, contextOf(accountId));
    if (text === null) {
      throw invalid(
        `input.${index}: this compaction item is not one of this workspace, or was changed. Send it as /v1/responses/compact returned it.`,
      );
    }
    const opened = JSON.parse(text) as Compacted;
    record = opened.record ?? record;
    const messages = opened.messages.map((message) => ({ type: "message", ...message }));
    for (const message of messages) compacted.add(message);
    return messages;
  });
  return { items, compacted, record };
}

function shortened(text: string): string {
  return text.length <= maximumMessage ? text : `${text.slice(0, maximumMessage).toWellFormed()} (…)`;
}

function contextOf(accountId: string): string {
  return `compaction of ${accountId}`;
}

function invalid(message: string): BerthError {
  return new BerthError("request_invalid", message);
}
