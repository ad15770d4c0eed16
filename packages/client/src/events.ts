import { createParser } from "eventsource-parser";
import { ApiError, NotBerthError, UnreachableError } from "./errors.ts";
import { pause } from "./retry.ts";

/** Delays before each attempt to resume a broken stream. A restarting server is back within them. */
export const retryDelaysMs = [250, 500, 1_000, 2_000, 4_000, 8_000, 8_000];

/** How to follow a stream of events. */
export interface FollowOptions<Event> {
  /** True for the event that properly ends the stream. */
  isLast: (event: Event) => boolean;
  /** Called when the stream breaks, before it is reopened. */
  onBroken?: () => void;
  signal?: AbortSignal | undefined;
  /** Replaces the default delays. If empty, the stream is not reopened. */
  delaysMs?: readonly number[];
}

/**
 * The events of a server-sent stream up to the last, each event's `data` parsed as JSON. `open` opens the stream after
 * the event with the given id, null at first; `again` tells that this was tried before. A stream that breaks before its last event is reopened from its last id,
 * a few times. Throws what the first `open` throws, then `UnreachableError` when the attempts run out, and `ApiError`
 * if the service refuses to resume.
 */
export async function* followEvents<Event>(
  open: (lastId: string | null, again: boolean) => Promise<Response>,
  options: FollowOptions<Event>,
): AsyncGenerator<Event> {
  const { signal, delaysMs = retryDelaysMs } = options;
  let lastId: string | null = null;
  let response: Response | null = await open(null, false);
  for (let tries = 0; ; tries++) {
    // No event follows the one that it was asked after.
    if (response?.status === 204) return;
    const isAlive = () => {
      tries = 0;
    };
    for await (const { id, data } of response ? messages(response, signal, isAlive) : []) {
      const event = parse<Event>(data);
      const isLast = options.isLast(event);
      // Never repeat an event, whatever the service sends. The last one may have a lower id than events before it: of a
      // server and a machine that were lost together, some events were sent and never stored.
      if (!isLast && id !== undefined && lastId !== null && Number(id) <= Number(lastId)) continue;
      lastId = id ?? lastId;
      isAlive();
      yield event;
      if (isLast) return;
    }
    const delayMs = delaysMs[tries];
    if (delayMs === undefined) throw new UnreachableError("The stream broke off, and the service is not responding.");
    if (tries === 0) options.onBroken?.();
    await pause(delayMs, signal);
    response = await reopen(() => open(lastId, true));
  }
}

/** Null if the service cannot be reached or is temporarily unavailable. */
async function reopen(open: () => Promise<Response>): Promise<Response | null> {
  try {
    return await open();
  } catch (error) {
    const passing = error instanceof ApiError && (error.statusCode >= 500 || error.statusCode === 429);
    if (error instanceof UnreachableError || passing) return null;
    throw error;
  }
}

/**
 * The messages of one connection. Ends without an error when the connection does. `isAlive` is called for each comment,
 * with which the service shows that a stream without messages is whole.
 */
async function* messages(response: Response, signal: AbortSignal | undefined, isAlive: () => void) {
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
    throw new NotBerthError("The server there is not Berth: an event stream was expected.");
  }
  const found: { id: string | undefined; data: string }[] = [];
  const parser = createParser({ onEvent: ({ id, data }) => found.push({ id, data }), onComment: isAlive });
  // Not every browser can iterate over a stream.
  const reader = response.body!.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read().catch(() => ({ value: undefined, done: true }));
      signal?.throwIfAborted();
      if (done) return;
      parser.feed(value!);
      yield* found.splice(0);
    }
  } finally {
    // The events after the last one that is wanted.
    await reader.cancel().catch(() => {});
  }
}

function parse<Event>(data: string): Event {
  try {
    return JSON.parse(data) as Event;
  } catch {
    throw new NotBerthError("The server there is not Berth: an event is not JSON.");
  }
}
