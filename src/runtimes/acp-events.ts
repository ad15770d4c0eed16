import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { z } from "zod";
import type { TurnEvent } from "../contract/chat.ts";
import { PlanStep } from "../contract/plan.ts";
import { planEvent } from "./plan.ts";

type ToolUpdate = Extract<SessionUpdate, { sessionUpdate: "tool_call" | "tool_call_update" }>;

/** Converts a session update to a turn's events; none for updates that no reader of a turn needs. */
export function eventsOf(update: SessionUpdate): TurnEvent[] {
  switch (update.sessionUpdate) {
    case "agent_message_chunk":
      return update.content.type === "text" ? [{ type: "response.output_text.delta", delta: update.content.text }] : [];
    case "agent_thought_chunk":
      return update.content.type === "text"
        ? [{ type: "response.reasoning_text.delta", delta: update.content.text }]
        : [];
    case "tool_call":
    case "tool_call_update":
      return [toolEvent(update), ...plansIn(update)];
    case "plan":
      return [planEvent(update.entries.map(({ content, status }) => ({ text: content, status })))];
    default:
      return [];
  }
}

function toolEvent(update: ToolUpdate): TurnEvent {
  const finished = update.status === "completed" || update.status === "failed";
  const opened = update.sessionUpdate === "tool_call";
  return {
    type: `response.tool_call.${finished ? "completed" : opened ? "started" : "updated"}`,
    id: update.toolCallId,
    // If a runtime does not give the tool's name, the title is the name until the call's input is known.
    ...present("name", update.name ?? (opened ? update.title : undefined) ?? undefined),
    ...present("title", update.title ?? undefined),
    ...present("status", update.status ?? undefined),
    ...present("input", update.rawInput),
    ...present("output", update.rawOutput ?? update.content ?? undefined),
  };
}

/** The input of the to-do tools of opencode (`content`) and gemini-cli (`description`), which send no plan. */
const Todos = z.object({
  todos: z.array(
    z.object({
      content: z.string().optional(),
      description: z.string().optional(),
      // A step can be cancelled, too.
      status: PlanStep.shape.status.catch("completed"),
    }),
  ),
});

function plansIn({ rawInput }: ToolUpdate): TurnEvent[] {
  const { data } = Todos.safeParse(rawInput);
  if (!data) return [];
  return [
    planEvent(data.todos.map(({ content, description, status }) => ({ text: content ?? description ?? "", status }))),
  ];
}

function present<Key extends string, Value>(key: Key, value: Value | undefined): { [K in Key]?: Value } {
  return value === undefined ? {} : ({ [key]: value } as { [K in Key]?: Value });
}
