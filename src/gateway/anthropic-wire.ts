import type { ModelAnswer } from "./provider.ts";

// The parts of Anthropic's Messages API that the gateway itself reads or writes:
// https://docs.anthropic.com/en/api/messages

export interface TextBlock {
  type: "text";
  text: string;
}

export interface ToolResultBlock {
  type: "tool_result";
  tool_use_id: string;
  content?: string | { type: string; text?: string }[];
  is_error?: boolean;
}

export interface Message {
  role: "user" | "assistant";
  content: string | (TextBlock | ToolResultBlock | { type: string })[];
}

export interface MessagesRequest {
  model: string;
  messages: Message[];
  stream?: boolean;
  tools?: { name: string; input_schema?: { properties?: Record<string, unknown> } }[];
}

/** An error in the provider's own shape, so that its clients understand it. */
export function anthropicError(status: number, type: string, message: string): ModelAnswer {
  return jsonAnswer(status, { type: "error", error: { type, message } });
}

export function jsonAnswer(status: number, body: unknown): ModelAnswer {
  return { status, headers: { "content-type": "application/json" }, body: once(JSON.stringify(body)) };
}

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}
