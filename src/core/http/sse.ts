import { once } from "node:events";
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { setImmediate } from "node:timers/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import { goneOf } from "./gone.ts";

/** Proxies close idle streams. */
const commentEveryMs = 15_000;

/** A reader that accepts nothing for this long is considered dead. It can reconnect from its last event. */
const deadAfterMs = 60_000;

/** Size of a single write. A reader with a slow connection has `deadAfterMs` for each. */
const pieceBytes = 64 * 1024;

/**
 * An event of a stream: its data as JSON or as a text, its name where it has one, and an `id:` if readers can resume from
 * it. With `isEnd`, the id begins with a zero: the reader that sends it back has seen the end, and not another event that
 * had its number and was lost.
 */
export type SseEvent = { id?: number; isEnd?: boolean; event?: string } & ({ data: unknown } | { text: string });

/** The last event that a reconnecting reader has seen; null if unknown. */
export function lastEventId({ headers }: FastifyRequest): number | null {
  // Ignore anything but a number: a proxy or library may have set it.
  const last = /^\d{1,15}$/.exec(String(headers["last-event-id"]));
  return last ? Number(last[0]) : null;
}

/** Whether a reconnecting reader has seen the end of the stream; see `isEnd`. */
export function hasSeenEnd({ headers }: FastifyRequest): boolean {
  return /^0\d{1,14}$/.test(String(headers["last-event-id"]));
}

/**
 * Streams batches of events until the source ends or the reader disconnects, which aborts `gone`. Waits for a slow
 * reader batch by batch, without delaying others; disconnects one that accepts nothing for `deadMs`.
 */
export async function sendEvents(
  reply: FastifyReply,
  headers: Record<string, string>,
  source: (gone: AbortSignal) => AsyncIterable<readonly SseEvent[]>,
  deadMs = deadAfterMs,
): Promise<void> {
  const { raw } = reply;
  const gone = open(reply, headers);
  // Not while writes are pending: comments would pile up in memory. One line: some clients take an empty one for an
  // event without data.
  const comments = setInterval(() => raw.writableNeedDrain || raw.write(": still here\n"), commentEveryMs);
  try {
    await sendAll(reply, formatted(source(gone)), gone, deadMs);
  } finally {
    clearInterval(comments);
  }
}

/**
 * As `sendEvents`, for events of something that has ended. Without any event left it is 204, with which an `EventSource`
 * stops asking.
 */
export async function sendLastEvents(
  reply: FastifyReply,
  headers: Record<string, string>,
  source: (gone: AbortSignal) => AsyncGenerator<readonly SseEvent[]>,
): Promise<void> {
  const batches = source(goneOf(reply));
  const first = await batches.next();
  if (first.done) return void reply.code(204).headers(headers).send();
  await sendEvents(reply, headers, async function* () {
    yield first.value;
    yield* batches;
  });
}

/** Streams events that are already text, including comments. The source is notified when the reader disconnects. */
export async function sendText(reply: FastifyReply, source: AsyncIterable<Uint8Array>): Promise<void> {
  const gone = open(reply, {});
  await sendAll(reply, source, gone, deadAfterMs);
}

/** Sends the stream's headers. The signal aborts when the reader goes away. */
function open(reply: FastifyReply, headers: Record<string, string>): AbortSignal {
  const { raw } = reply;
  reply.hijack();
  const gone = goneOf(reply);
  raw.on("error", () => {});
  raw.writeHead(200, {
    ...(reply.getHeaders() as OutgoingHttpHeaders),
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
    ...headers,
  });
  raw.flushHeaders();
  return gone;
}

async function sendAll(
  reply: FastifyReply,
  source: AsyncIterable<string | Uint8Array>,
  gone: AbortSignal,
  deadMs: number,
): Promise<void> {
  const { raw } = reply;
  try {
    for await (const text of source) {
      if (!(await write(raw, text, gone, deadMs))) {
        reply.log.info("a reader that took nothing was cut off");
        raw.destroy();
        return;
      }
      // Batches the events of one round of the event loop into one write.
      await setImmediate();
    }
    raw.end();
  } catch (error) {
    // Too late for an error status. The reader sees that the last event is missing and reconnects.
    reply.log.error({ err: error }, "a stream broke off");
    raw.destroy();
  }
}

async function* formatted(batches: AsyncIterable<readonly SseEvent[]>): AsyncGenerator<string> {
  for await (const events of batches) yield events.map(format).join("");
}

/** Returns false if the reader accepted nothing for `deadMs`. */
async function write(
  raw: ServerResponse,
  text: string | Uint8Array,
  gone: AbortSignal,
  deadMs: number,
): Promise<boolean> {
  if (text.length < pieceBytes / 4) return raw.write(text) || drained(raw, gone, deadMs);
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  for (let at = 0; at < bytes.length && !gone.aborted; at += pieceBytes) {
    if (raw.write(bytes.subarray(at, at + pieceBytes))) continue;
    if (!(await drained(raw, gone, deadMs))) return false;
  }
  return true;
}

/** Also true if the reader has gone. */
async function drained(raw: ServerResponse, gone: AbortSignal, deadMs: number): Promise<boolean> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), deadMs);
  await once(raw, "drain", { signal: AbortSignal.any([gone, late.signal]) }).catch(() => {});
  clearTimeout(timer);
  return !late.signal.aborted || gone.aborted;
}

/** Next line, line separator and paragraph separator, which JSON has unescaped. */
const lineEnds = /[\u0085\u2028\u2029]/g;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function format(event: SseEvent): string {
  const { id, isEnd = false, event: name } = event;
  // Some clients, such as Python's `splitlines`, take these for line ends.
  const data = ("text" in event ? event.text : JSON.stringify(event.data)).replace(lineEnds, escaped);
  return `${id === undefined ? "" : `id: ${isEnd ? "0" : ""}${id}\n`}${name === undefined ? "" : `event: ${name}\n`}data: ${data}\n\n`;
}
