import type { SequencedEvent, ToolCallEvent, TurnEvent } from "../../contract/chat.ts";
import { isOfClient } from "../../contract/functions.ts";
import { hexOf } from "../../contract/ids.ts";
import { KeptText } from "./kept-text.ts";
import type { ResponsePlace } from "./parts.ts";
import { type OutputItem, type ResponseOutcome, responseObject } from "./response-object.ts";
import type { ResponseState } from "./stored-responses.ts";
import { StretchUsage } from "./stretch-usage.ts";

/** An event of a response's stream, with its type and number. */
export interface ResponseEvent {
  type: string;
  sequence_number: number;
  [field: string]: unknown;
}

type FunctionCallEvent = Extract<TurnEvent, { type: "response.function_call" }>;

/** The current text item: a message or reasoning. */
interface OpenText {
  kind: "message" | "reasoning";
  item: OutputItem;
  index: number;
  pieces: string[];
  /** The item lacks some of the text. */
  isCut: boolean;
}

const texts = {
  message: {
    delta: "response.output_text.delta",
    done: "response.output_text.done",
    prefix: "msg",
    extra: { logprobs: [] },
  },
  reasoning: {
    delta: "response.reasoning_text.delta",
    done: "response.reasoning_text.done",
    prefix: "rs",
    extra: {},
  },
} as const;

/**
 * A turn's events as those of a response (https://www.openresponses.org/specification). The same events always produce
 * the same stream, with the same numbers, so a reader may resume at any of them.
 */
export class ResponseStream {
  readonly #response: ResponseState;
  readonly #model: string;
  /** Whether the answer is JSON. The agent's other texts are then shown as its reasoning. */
  readonly #isStructured: boolean;
  readonly #outcome: ResponseOutcome;
  readonly #tools = new Map<string, { item: OutputItem; index: number }>();
  readonly #kept = new KeptText();
  readonly #stretch: StretchUsage;
  #text: OpenText | null = null;
  #next = 0;
  #events: ResponseEvent[] = [];
  #ended = false;

  constructor({ response, turn, model }: ResponsePlace) {
    this.#response = response;
    this.#model = model;
    this.#isStructured = turn.outputSchema !== null;
    this.#outcome = { status: "in_progress", output: [], usage: null, error: null, completedAt: null };
    this.#stretch = new StretchUsage(response);
  }

  /** No event follows. */
  get ended(): boolean {
    return this.#ended;
  }

  /** The response after the events so far. */
  get object() {
    return responseObject(this.#response, this.#model, { ...this.#outcome, output: this.#outcome.output.map(present) });
  }

  /** The first events, which come before the turn's. */
  begin(): ResponseEvent[] {
    this.#add("response.created", { response: this.object });
    this.#add("response.in_progress", { response: this.object });
    return this.#taken();
  }

  /** The response's events for more of the turn's events. */
  take(batch: readonly SequencedEvent[]): ResponseEvent[] {
    for (const each of batch) if (!this.#ended && this.#stretch.isWithin(each)) this.#take(each.event);
    return this.#taken();
  }

  #take(event: TurnEvent): void {
    switch (event.type) {
      case "response.output_text.delta":
        this.#write(this.#isStructured ? "reasoning" : "message", event.delta);
        return;
      case "response.reasoning_text.delta":
        this.#write("reasoning", event.delta);
        return;
      case "response.tool_call.started":
      case "response.tool_call.updated":
      case "response.tool_call.completed":
        this.#tool(event);
        return;
      case "response.function_call":
        this.#call(event);
        return;
      case "response.completed":
        if (event.output) this.#write("message", JSON.stringify(event.output));
        if (this.#kept.isCut) this.#cut(event);
        else this.#complete(event);
        return;
      case "response.failed":
        this.#end("response.failed", { status: "failed", usage: this.#stretch.of(event.usage), error: event.error });
        return;
      case "response.cancelled":
        // OpenAI has no event for this; the response's status reports it.
        this.#end("response.incomplete", { status: "cancelled", usage: this.#stretch.of(event.usage) });
        return;
      default: // OpenAI has no event for the machine's preparation.
    }
  }

  #write(kind: OpenText["kind"], delta: string): void {
    if (this.#text?.kind !== kind) this.#openText(kind);
    const text = this.#text!;
    const { item, index } = text;
    const piece = this.#kept.take(delta);
    text.pieces.push(piece);
    text.isCut ||= piece.length < delta.length;
    const place = { item_id: item.id, output_index: index, content_index: 0 };
    this.#add(texts[kind].delta, { ...place, delta, ...texts[kind].extra });
  }

  #openText(kind: OpenText["kind"]): void {
    this.#closeText("completed");
    const fields = kind === "message" ? { role: "assistant", content: [] } : { summary: [], content: [] };
    const { item, index } = this.#addItem(kind, texts[kind].prefix, fields);
    this.#text = { kind, item, index, pieces: [], isCut: false };
    this.#add("response.content_part.added", {
      item_id: item.id,
      output_index: index,
      content_index: 0,
      part: partOf(kind, ""),
    });
  }

  #closeText(status: OutputItem["status"]): void {
    if (!this.#text) return;
    const { kind, item, index, pieces, isCut } = this.#text;
    this.#text = null;
    const text = pieces.join("");
    const place = { item_id: item.id, output_index: index, content_index: 0 };
    this.#add(texts[kind].done, { ...place, text, ...texts[kind].extra });
    this.#add("response.content_part.done", { ...place, part: partOf(kind, text) });
    item.content = [partOf(kind, text)];
    this.#closeItem({ item, index }, isCut ? "incomplete" : status);
  }

  /** The runtime's own tools, which need no answer: shown like those of a server that the model has called. */
  #tool(event: ToolCallEvent): void {
    const known = this.#tools.get(event.id);
    // A call that started in an earlier response lacks only the name. The client's own calls have an event of their
    // own.
    if (!known && (event.name === undefined || isOfClient(event.name))) return;
    this.#closeText("completed");
    const tool = known ?? this.#openTool(event);
    const { item, index } = tool;
    if (event.name !== undefined) item.name = event.name;
    if (event.input !== undefined) item.arguments = this.#kept.takeWhole(JSON.stringify(event.input)) ?? "{}";
    if (event.output !== undefined) item.output = this.#kept.take(textOf(event.output));
    if (event.type !== "response.tool_call.completed" || item.status !== "in_progress") return;
    const failed = event.status === "failed";
    if (failed) item.error = item.output;
    const place = { item_id: item.id, output_index: index };
    this.#add("response.mcp_call_arguments.done", { ...place, arguments: item.arguments });
    this.#add(failed ? "response.mcp_call.failed" : "response.mcp_call.completed", place);
    this.#closeItem(tool, failed ? "failed" : "completed");
  }

  #openTool({ id, name }: ToolCallEvent) {
    const fields = { server_label: "agent", name, arguments: "{}", output: null, error: null };
    const tool = this.#addItem("mcp_call", "mcp", fields);
    this.#tools.set(id, tool);
    this.#add("response.mcp_call.in_progress", { item_id: tool.item.id, output_index: tool.index });
    return tool;
  }

  /** The client's function: the response ends, and the next one begins with its result. */
  #call(event: FunctionCallEvent): void {
    this.#closeText("completed");
    const fields = { call_id: event.callId, name: event.name, arguments: "" };
    const { item, index } = this.#addItem("function_call", "fc", fields);
    const place = { item_id: item.id, output_index: index };
    this.#add("response.function_call_arguments.delta", { ...place, delta: event.arguments });
    this.#add("response.function_call_arguments.done", { ...place, name: event.name, arguments: event.arguments });
    item.arguments = event.arguments;
    this.#closeItem({ item, index }, "completed");
    this.#complete(event);
  }

  #complete({ usage, at }: Pick<FunctionCallEvent, "usage" | "at">): void {
    this.#end("response.completed", { status: "completed", usage: this.#stretch.of(usage), completedAt: at ?? null });
  }

  /** The turn is complete, but its object is not. Its items say which. */
  #cut({ usage }: Pick<FunctionCallEvent, "usage">): void {
    this.#end("response.incomplete", { status: "incomplete", usage: this.#stretch.of(usage) });
  }

  #end(type: string, outcome: Partial<ResponseOutcome>): void {
    const isWhole = outcome.status === "completed" || outcome.status === "incomplete";
    this.#closeText(isWhole ? "completed" : "incomplete");
    for (const tool of this.#tools.values())
      if (tool.item.status === "in_progress") this.#closeItem(tool, "incomplete");
    Object.assign(this.#outcome, outcome);
    this.#add(type, { response: this.object });
    this.#ended = true;
  }

  #addItem(type: OutputItem["type"], prefix: string, fields: object) {
    const index = this.#outcome.output.length;
    const id = `${prefix}_${hexOf(this.#response.id)}${index}`;
    const item: OutputItem = { id, type, status: "in_progress", ...fields };
    this.#outcome.output.push(item);
    this.#add("response.output_item.added", { output_index: index, item: present(item) });
    return { item, index };
  }

  #closeItem({ item, index }: { item: OutputItem; index: number }, status: OutputItem["status"]): void {
    item.status = status;
    this.#add("response.output_item.done", { output_index: index, item: present(item) });
  }

  #add(type: string, fields: object): void {
    this.#events.push({ type, sequence_number: this.#next++, ...fields });
  }

  #taken(): ResponseEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }
}

function partOf(kind: OpenText["kind"], text: string) {
  return kind === "message"
    ? { type: "output_text", text, annotations: [], logprobs: [] }
    : { type: "reasoning_text", text };
}

/** A copy, since the item keeps changing. */
function present(item: OutputItem): OutputItem {
  return { ...item };
}

function textOf(output: unknown): string {
  return typeof output === "string" ? output : JSON.stringify(output);
}
