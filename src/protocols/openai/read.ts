import type { SequencedEvent } from "../../contract/chat.ts";
import type { SseEvent } from "../../core/http/sse.ts";
import type { TurnState } from "../../turns/turn.ts";
import type { Turns } from "../../turns/turns.ts";
import type { ResponsePlace } from "./parts.ts";
import type { ResponseObject } from "./response-object.ts";
import { type ResponseEvent, ResponseStream } from "./response-stream.ts";
import { readFrom } from "./stretch-usage.ts";

/** The text that ends a stream of OpenAI's. */
export const streamEnd: SseEvent = { text: "[DONE]" };

/** A response's events after the number `after`, up to its end. */
export async function* responseEvents(
  turns: Turns,
  place: ResponsePlace,
  after: number,
  gone: AbortSignal,
): AsyncGenerator<SseEvent[]> {
  const { response, turn } = place;
  const stream = new ResponseStream(place);
  const late = (events: ResponseEvent[]) => events.filter(({ sequence_number: number }) => number > after).map(asSse);
  yield late(stream.begin());
  for await (const batch of turns.events.follow(turn, readFrom(response), gone)) {
    yield late(stream.take(batch));
    if (stream.ended) break;
  }
  if (stream.ended) yield [streamEnd];
}

/**
 * A response's events with ids, from which an `EventSource` resumes. After the event `seen` of its last connection (null:
 * its first), the stream's end alone is nothing.
 */
export async function* resumableEvents(
  batches: AsyncIterable<SseEvent[]>,
  after: number,
  seen: number | null,
): AsyncGenerator<SseEvent[]> {
  let id = after;
  for await (const batch of batches) {
    const events = batch.map((event) => {
      if ("data" in event) id = (event.data as ResponseEvent).sequence_number;
      return { ...event, id };
    });
    if (events.length > 0 && !(id === seen && batch.includes(streamEnd))) yield events;
  }
}

function asSse(event: ResponseEvent): SseEvent {
  return { event: event.type, data: event };
}

/** The response when it has ended or the signal aborts, in its current state. */
export async function readResponse(
  turns: Turns,
  place: ResponsePlace,
  until: AbortSignal | "so far",
): Promise<ResponseObject> {
  const { response, turn } = place;
  const stream = new ResponseStream(place);
  for await (const batch of batchesOf(turns, turn, readFrom(response), until)) {
    stream.take(batch);
    if (stream.ended) break;
  }
  return stream.object;
}

/** A turn's events after `after`, up to its end, or to the last current one. */
async function* batchesOf(
  turns: Turns,
  turn: TurnState,
  after: number,
  until: AbortSignal | "so far",
): AsyncGenerator<SequencedEvent[]> {
  if (until !== "so far") return yield* turns.events.follow(turn, after, until);
  const last = await turns.events.last(turn);
  if (last <= after) return;
  for await (const batch of turns.events.follow(turn, after, new AbortController().signal)) {
    yield batch;
    if (batch.at(-1)!.seq >= last) return;
  }
}
