import type { ServerHttp2Stream } from "node:http2";
import { isObject, type JsonObject } from "./wires/wire.ts";

/** A request to a model is at most this large, in bytes; Anthropic's own limit. */
export const maximumBodyBytes = 32 * 1024 * 1024;

/** How large a request says that it is, in bytes; as large as it may be where it does not say. */
export function announcedBytes(contentLength: string | undefined): number {
  const bytes = /^\d{1,9}$/.test(contentLength ?? "") ? Number(contentLength) : maximumBodyBytes;
  return Math.min(bytes, maximumBodyBytes);
}

/** The whole of a request; null when it is larger than `maximum`. */
export async function collect(stream: ServerHttp2Stream, maximum: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= maximum) chunks.push(chunk);
    else chunks.length = 0; // Read to its end all the same: a stream that is left is closed, and cannot be answered.
  }
  return size <= maximum ? Buffer.concat(chunks) : null;
}

/** The JSON object of a request; null for anything else. */
export function parseObject(body: Buffer): JsonObject | null {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
