import { type Message, type Part, Role, type SendMessageRequest } from "@a2a-js/sdk";
import { ContentTypeNotSupportedError, RequestMalformedError } from "@a2a-js/sdk/errors";
import { Decision } from "../../contract/approval-fields.ts";
import { BerthError } from "../../contract/errors.ts";
import { imageTypes, MediaType } from "../../contract/uploads.ts";
import { checked, type GivenFile, type MessageContent } from "../../uploads/content.ts";
import { conversationOf } from "./tasks.ts";

/** The answers to a task that waits for an approval: the message's whole text. */
const answers: readonly Decision[] = Decision.options;

/** The answer of a message to a task that waits. Throws A2A's error for any other text. */
export function decisionIn({ parts }: Message): Decision {
  const text = parts.map(textOf).join("").trim().toLowerCase();
  const found = answers.find((answer) => answer === text);
  if (found) return found;
  throw new RequestMalformedError(
    `A message to a task answers its approval. Its text is one of ${answers.join(", ")}.`,
  );
}

/** A message for an agent; `conversation`: that of its context, undefined for the current one. */
interface ReceivedMessage {
  content: MessageContent;
  conversation: number | undefined;
}

/** Throws A2A's errors for unsupported content and invalid contexts. */
export function messageIn({ message, configuration }: SendMessageRequest): ReceivedMessage {
  if (!message) throw new RequestMalformedError("A message is required.");
  const { messageId, contextId, parts, role } = message;
  if (role !== Role.ROLE_USER) throw new RequestMalformedError("A client's message must have the role ROLE_USER.");
  // Without one, all messages would look like the same message.
  if (messageId === "") throw new RequestMalformedError("A message must have a messageId chosen by the client.");
  const conversation = contextId === "" ? undefined : conversationOf(contextId);
  if (contextId !== "" && conversation === undefined)
    throw new RequestMalformedError(
      "A context's id is conversation-N, with the number of one of the agent's conversations.",
    );
  const modes = configuration?.acceptedOutputModes ?? [];
  if (modes.length > 0 && !modes.some((mode) => /^(text\/(plain|\*|markdown)|text|\*\/\*)$/.test(mode)))
    throw new ContentTypeNotSupportedError("Replies are text/plain.");
  const text = parts.flatMap((part) => textOf(part) ?? []).join("\n\n");
  const files = parts.flatMap((part, index) => fileOf(part, `parts.${index}`) ?? []);
  try {
    return { content: checked({ text, files }, "parts"), conversation };
  } catch (error) {
    throw error instanceof BerthError ? new RequestMalformedError(error.message) : error;
  }
}

/** The image or the file of a part; null if it is a text. */
function fileOf({ content, filename, mediaType }: Part, part: string): GivenFile | null {
  if (content?.$case !== "raw") return null;
  if (content.value.length === 0) throw new RequestMalformedError(`${part}: the file is empty.`);
  const kind = (imageTypes as readonly string[]).includes(mediaType.toLowerCase()) ? "image" : "file";
  const type = MediaType.safeParse(mediaType).data ?? null;
  return { kind, part, name: filename || null, mediaType: type, source: Buffer.from(content.value) };
}

/** The text of a part; null for bytes. */
function textOf({ content, filename }: Part): string | null {
  switch (content?.$case) {
    case "text":
      return content.value;
    case "data":
      return JSON.stringify(content.value, null, 2) ?? "";
    case "url":
      return `[${filename || content.value}](${content.value})`;
    case "raw":
      return null;
    default:
      throw new ContentTypeNotSupportedError("Parts may be text, data, url or raw.");
  }
}
