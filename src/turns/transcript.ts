import { toUsage } from "../billing/usage.ts";
import type { TranscriptLine } from "../contract/archives.ts";
import { isToolCall, type TurnEvent } from "../contract/chat.ts";
import { errorStatuses } from "../contract/errors.ts";
import { storable, storableValue } from "./storable.ts";
import type { PastTurn } from "./turn.ts";

/** A finished turn without its content. */
export type FinishedTurn = Omit<PastTurn, "reply" | "replyTruncated" | "askedBy" | "createdBy" | "finishedAt"> & {
  finishedAt: Date;
};

type TurnLine = Extract<TranscriptLine, { type: "turn" }>;
type ContentLine = Exclude<TranscriptLine, TurnLine>;
type ToolCall = Extract<TranscriptLine, { type: "tool_call" }>;

/** The maximum length of a text in a line, in characters. */
const maximumText = 64 * 1024;
/** The maximum number of events stored together, and their approximate maximum length in characters. */
const batchEvents = 500;
const batchCharacters = 512 * 1024;

/** A turn's lines: its own, and its events, joined into as few lines as possible. */
export async function* toLines(turn: FinishedTurn, events: AsyncIterable<TurnEvent>): AsyncGenerator<TranscriptLine> {
  const {
    id,
    conversation,
    createdAt,
    finishedAt,
    message,
    attachments,
    model,
    effort,
    error,
    output,
    changes,
    undone,
    usage,
  } = turn;
  const { credits: _, ...tokens } = toUsage(usage);
  const times = { createdAt: createdAt.toISOString(), finishedAt: finishedAt.toISOString() };
  const status = turn.status as TurnLine["status"];
  const said = { message, attachments, model, effort, status, error, output, changes, undone };
  yield { type: "turn", id, conversation, ...times, ...said, usage: tokens };
  const text = new Text();
  const calls = new Map<string, ToolCall>();
  for await (const event of events) {
    yield* text.add(event);
    if (!isToolCall(event)) continue;
    const call = merged(calls.get(event.id), event);
    calls.set(event.id, call);
    if (event.type !== "response.tool_call.completed") continue;
    calls.delete(event.id);
    yield call;
  }
  yield* text.taken();
  yield* calls.values();
}

type TextLine = Extract<ContentLine, { text: string }>;

/** Joins consecutive deltas. */
class Text {
  #type: TextLine["type"] = "text";
  #text = "";

  add(event: TurnEvent): TextLine[] {
    const type = textTypes[event.type];
    const isOver = type !== this.#type || this.#text.length >= maximumText;
    const over = isOver ? this.taken() : [];
    if (type && "delta" in event) {
      this.#type = type;
      this.#text += event.delta;
    }
    return over;
  }

  taken(): TextLine[] {
    const line = { type: this.#type, text: this.#text };
    this.#text = "";
    return line.text === "" ? [] : [line];
  }
}

const textTypes: Partial<Record<TurnEvent["type"], TextLine["type"]>> = {
  "response.output_text.delta": "text",
  "response.reasoning_text.delta": "reasoning",
};

function merged(before: ToolCall | undefined, event: Extract<TurnEvent, { id: string }>): ToolCall {
  const { type: _, ...told } = event;
  const given = Object.entries(told).filter(([, value]) => value !== undefined);
  return { ...(before ?? { type: "tool_call", id: event.id }), ...Object.fromEntries(given) };
}

/** Parses a transcript's lines: a turn, then its events in batches, then the next turn. */
export type ImportedItem =
  | { turn: Omit<FinishedTurn, "id" | "agentId" | "keyId" | "personId" | "instructions" | "functions" | "asked"> }
  | { events: StorableEvent[] };

/** An event with its number in its turn, as JSON in a form that can be stored. */
interface StorableEvent {
  seq: number;
  json: string;
}

/**
 * A transcript's turns, in its order; their times increase. Their credits are unknown, since importing bills nobody.
 * Times later than `now` become `now`.
 */
export async function* fromLines(lines: AsyncIterable<TranscriptLine>, now: Date): AsyncGenerator<ImportedItem> {
  let turn: TurnLine | null = null;
  let batch = new Batch();
  let last = 0;
  for await (const line of lines) {
    if (line.type === "turn") {
      if (turn) yield { events: batch.ended(turn) };
      turn = storableValue(line);
      batch = new Batch();
      const imported = toTurn(turn, { now, after: last });
      last = imported.createdAt.getTime();
      yield { turn: imported };
      continue;
    }
    // Content before the first turn belongs to no turn.
    if (!turn) continue;
    batch.add(line);
    if (batch.isFull) yield { events: batch.taken() };
  }
  if (turn) yield { events: batch.ended(turn) };
}

/** Events of a turn, with their numbers. */
class Batch {
  #events: StorableEvent[] = [];
  #last = 0;
  #characters = 0;

  constructor() {
    this.#push({ type: "response.created" });
  }

  get isFull(): boolean {
    return this.#events.length >= batchEvents || this.#characters >= batchCharacters;
  }

  add(line: ContentLine): void {
    if (line.type === "text") this.#push({ type: "response.output_text.delta", delta: line.text });
    else if (line.type === "reasoning") this.#push({ type: "response.reasoning_text.delta", delta: line.text });
    else {
      const { type: _, id, name, title, status, input, output } = line;
      this.#push({ type: "response.tool_call.started", id, ...given({ name, title, input }) });
      this.#push({ type: "response.tool_call.completed", id, ...given({ status, output }) });
    }
  }

  taken(): StorableEvent[] {
    const taken = this.#events;
    this.#events = [];
    this.#characters = 0;
    return taken;
  }

  /** The turn's last event is included. */
  ended(turn: TurnLine): StorableEvent[] {
    const changes = turn.changes ?? undefined;
    const output = turn.output ?? undefined;
    if (turn.status === "completed") this.#push({ type: "response.completed", output, changes });
    else if (turn.status === "cancelled") this.#push({ type: "response.cancelled", changes });
    else this.#push({ type: "response.failed", error: faultOf(turn), changes });
    return this.taken();
  }

  #push(event: TurnEvent): void {
    const json = JSON.stringify(storable(event));
    this.#events.push({ seq: ++this.#last, json });
    this.#characters += json.length;
  }
}

function given<Fields extends object>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Fields>;
}

/** A code that this version of Berth does not know becomes a general failure. */
function faultOf({ error }: TurnLine): NonNullable<PastTurn["error"]> {
  const { code, message } = error ?? { code: "", message: "It failed." };
  return { code: code in errorStatuses ? (code as keyof typeof errorStatuses) : "runtime_failed", message };
}

function toTurn(
  line: TurnLine,
  { now, after }: { now: Date; after: number },
): Extract<ImportedItem, { turn: object }>["turn"] {
  const { conversation, message, attachments, model, effort, status, output, changes, undone, usage } = line;
  const past = (time: string) => Math.min(Date.parse(time), now.getTime());
  const createdAt = new Date(Math.max(past(line.createdAt), after + 1));
  const finishedAt = new Date(Math.max(past(line.finishedAt), createdAt.getTime()));
  const error = status === "failed" ? faultOf(line) : null;
  const counts = {
    input: usage.inputTokens,
    output: usage.outputTokens,
    cacheRead: usage.cacheReadTokens,
    cacheWrite: usage.cacheWriteTokens,
    reasoning: usage.reasoningTokens,
    microCredits: null,
    contextTokens: usage.contextTokens,
    contextLimit: usage.contextLimit,
  };
  const unset = { namesConversation: false, limits: null, outputSchema: null, waiting: false, queuedAt: null };
  const none = { ...unset, onAsk: "deny" } as const;
  const said = { conversation, message, attachments, model, effort, status, error, output, changes, undone };
  return { ...said, usage: counts, ...none, createdAt, finishedAt };
}
