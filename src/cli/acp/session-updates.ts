import type { SessionUpdate, ToolCallContent, ToolKind } from "@agentclientprotocol/sdk";
import type { TurnEvent } from "@berth/client";

type ToolEvent = Extract<
  TurnEvent,
  { type: "response.tool_call.started" | "response.tool_call.updated" | "response.tool_call.completed" }
>;

/** How much of a tool's output is sent to an editor, in characters. */
const shownCharacters = 64 * 1024;

/** The update for an editor about a turn's event; null for an event without one. */
export function updateOf(event: TurnEvent): SessionUpdate | null {
  switch (event.type) {
    case "response.output_text.delta":
      return { sessionUpdate: "agent_message_chunk", content: text(event.delta) };
    case "response.reasoning_text.delta":
      return { sessionUpdate: "agent_thought_chunk", content: text(event.delta) };
    case "response.tool_call.started":
      return { sessionUpdate: "tool_call", ...toolCallOf(event), title: titleOf(event) ?? "Tool" };
    case "response.tool_call.updated":
    case "response.tool_call.completed":
      return { sessionUpdate: "tool_call_update", ...toolCallOf(event), ...present("title", titleOf(event)) };
    case "response.plan.updated":
      return {
        sessionUpdate: "plan",
        entries: event.steps.map(({ text: content, status }) => ({ content, status, priority: "medium" })),
      };
    default:
      return null;
  }
}

/** The user's message, as a replay shows it. */
export function userMessage(message: string): SessionUpdate {
  return { sessionUpdate: "user_message_chunk", content: text(message) };
}

/** The service's own messages, such as why a turn failed. */
export function remark(said: string): SessionUpdate {
  return { sessionUpdate: "agent_message_chunk", content: text(`\n\n(${said})`) };
}

function text(content: string) {
  return { type: "text" as const, text: content };
}

function toolCallOf(event: ToolEvent) {
  const content = contentOf(event);
  return {
    toolCallId: event.id,
    status: statusOf(event),
    ...present("name", event.name),
    ...(event.name === undefined ? {} : { kind: kindOf(event.name) }),
    ...present("rawInput", event.input),
    ...(content.length > 0 ? { content } : {}),
  };
}

function titleOf({ title, name }: ToolEvent): string | undefined {
  return title ?? name;
}

function statusOf({ type, status }: ToolEvent): "in_progress" | "completed" | "failed" {
  if (type !== "response.tool_call.completed") return "in_progress";
  return status === "failed" ? "failed" : "completed";
}

/** By the names that the runtimes give their tools. */
const kinds: readonly (readonly [RegExp, ToolKind])[] = [
  [/^(bash|shell|exec|execute|run|terminal|process|killshell)/, "execute"],
  [/^(multi_?edit|edit|write|apply_?patch|patch|notebookedit|str_replace)/, "edit"],
  [/^(read|cat|view|notebookread)/, "read"],
  [/^(grep|glob|ls|list|find|search|codesearch)/, "search"],
  [/^(web|fetch|browser|http)/, "fetch"],
  [/^(delete|remove|rm)/, "delete"],
  [/^(move|rename|mv)/, "move"],
  [/^(think|task|todo|plan)/, "think"],
];

function kindOf(name: string): ToolKind {
  return kinds.find(([pattern]) => pattern.test(name.toLowerCase()))?.[1] ?? "other";
}

/** A tool's output: what its runtime reports in this protocol, or else its output and its changes. */
function contentOf({ name, input, output }: ToolEvent): ToolCallContent[] {
  const own = blocksIn(output);
  if (own.length > 0) return own;
  const diff = name === undefined ? null : diffOf(input);
  const shown = shownOutput(output);
  return [...(diff ? [diff] : []), ...(shown === null ? [] : [{ type: "content" as const, content: text(shown) }])];
}

/** Runtimes that use this protocol report their output as its blocks. */
function blocksIn(output: unknown): ToolCallContent[] {
  if (!Array.isArray(output)) return [];
  return output.flatMap((block: unknown): ToolCallContent[] => {
    const { type, path, oldText, newText, content } = (block ?? {}) as Record<string, unknown>;
    if (type === "diff" && typeof path === "string" && typeof newText === "string")
      return [{ type, path, newText, oldText: typeof oldText === "string" ? oldText : null }];
    const { type: kind, text: said } = (content ?? {}) as Record<string, unknown>;
    return type === "content" && kind === "text" && typeof said === "string"
      ? [{ type, content: text(said.slice(0, shownCharacters).toWellFormed()) }]
      : [];
  });
}

/** The change that a tool's input asks for, as Claude Code, opencode and OpenClaw name its parts. */
function diffOf(input: unknown): ToolCallContent | null {
  const fields = (input ?? {}) as Record<string, unknown>;
  const first = (...names: string[]) => names.map((name) => fields[name]).find((value) => typeof value === "string");
  const path = first("file_path", "filePath", "path") as string | undefined;
  const newText = first("new_string", "newString", "newText", "new_text", "content") as string | undefined;
  if (path === undefined || newText === undefined) return null;
  const oldText = first("old_string", "oldString", "oldText", "old_text") as string | undefined;
  return { type: "diff", path, oldText: oldText ?? null, newText };
}

function shownOutput(output: unknown): string | null {
  if (output === undefined || output === null || output === "" || isEmptyList(output)) return null;
  const said = typeof output === "string" ? output : JSON.stringify(output, null, 2);
  return said.length > shownCharacters ? `${said.slice(0, shownCharacters).toWellFormed()}\n… (cut)` : said;
}

/** Runtimes that use this protocol begin a tool's call with an output without blocks. */
function isEmptyList(output: unknown): boolean {
  return Array.isArray(output) && output.length === 0;
}

function present<Name extends string, Value>(name: Name, value: Value | undefined): Partial<Record<Name, Value>> {
  return value === undefined ? {} : ({ [name]: value } as Record<Name, Value>);
}
