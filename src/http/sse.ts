import { once } from "node:events";
import type { OutgoingHttpHeaders } from "node:http";
import type { FastifyReply } from "fastify";

/** Proxies close a stream in which nothing moves. */
const commentEveryMs = 15_000;

/** One event of a stream: its `data:` line, with an `id:` where readers can go on from it. */
export interface SseEvent {
  id?: number;
  data: unknown;
}

/**
 * Streams batches of events until their source ends or the reader goes away; `gone` is aborted then. A slow
 * reader is waited for, batch by batch, and holds up nobody else.
 */
export async function sendEvents(
  reply: FastifyReply,
  headers: Record<string, string>,
  source: (gone: AbortSignal) => AsyncIterable<readonly SseEvent[]>,
): Promise<void> {
  const { raw } = reply;
  reply.hijack();
  const gone = new AbortController();
  raw.on("close", () => gone.abort());
  raw.on("error", () => {});
  raw.writeHead(200, {
    ...(reply.getHeaders() as OutgoingHttpHeaders),
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
    ...headers,
  });
  raw.flushHeaders();
  const comments = setInterval(() => raw.write(": still here\n\n"), commentEveryMs);
  try {
    for await (const events of source(gone.signal)) {
      if (!raw.write(events.map(format).join(""))) {
        await once(raw, "drain", { signal: gone.signal }).catch(() => {});
      }
    }
    raw.end();
  } catch (error) {
    // The stream has begun, so no status can say it; a reader sees that the last event is missing and comes again.
    reply.log.error({ err: error }, "a stream broke off");
    raw.destroy();
  } finally {
    clearInterval(comments);
  }
}

function format({ id, data }: SseEvent): string {
  return `${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}
