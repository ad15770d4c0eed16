import { type Part, Role, type SendMessageRequest } from "@a2a-js/sdk";
import {
  ContentTypeNotSupportedError,
  PushNotificationNotSupportedError,
  RequestMalformedError,
  UnsupportedOperationError,
} from "@a2a-js/sdk/errors";
import { ChatRequest } from "../../contract/chat.ts";
import { contextIdOf } from "./tasks.ts";

/** The text of a request's message, for the agent's conversation. Throws what an agent cannot take, as A2A names it. */
export function messageFor(conversation: number, { message, configuration }: SendMessageRequest): string {
  if (!message) throw new RequestMalformedError("A message is required.");
  const { messageId, contextId, taskId, parts, role } = message;
  if (role !== Role.ROLE_USER) throw new RequestMalformedError("A client's message has the role ROLE_USER.");
  // Without one, every message would be taken for the same.
  if (messageId === "") throw new RequestMalformedError("A message has a messageId of the client's own.");
  const current = contextIdOf(conversation);
  if (contextId !== "" && contextId !== current)
    throw new RequestMalformedError(`The agent has one context, now ${current}: name that, or none.`);
  if (taskId !== "")
    throw new UnsupportedOperationError("A task is one message and its reply: send the next one without a taskId.");
  if (configuration?.taskPushNotificationConfig)
    throw new PushNotificationNotSupportedError("Push notifications are not sent: stream, or subscribe to the task.");
  const modes = configuration?.acceptedOutputModes ?? [];
  if (modes.length > 0 && !modes.some((mode) => /^(text\/(plain|\*|markdown)|text|\*\/\*)$/.test(mode)))
    throw new ContentTypeNotSupportedError("Replies are text/plain.");
  const checked = ChatRequest.shape.message.safeParse(parts.map(textOf).join("\n\n"));
  if (!checked.success) throw new RequestMalformedError(checked.error.issues[0]!.message);
  return checked.data;
}

function textOf({ content, filename }: Part): string {
  switch (content?.$case) {
    case "text":
      return content.value;
    case "data":
      return JSON.stringify(content.value, null, 2) ?? "";
    case "url":
      return `[${filename || content.value}](${content.value})`;
    default:
      throw new ContentTypeNotSupportedError("Parts may be text, data or url; bytes cannot be sent to an agent.");
  }
}
