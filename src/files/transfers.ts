import { createHash } from "node:crypto";
import type { Duplex, Readable } from "node:stream";
import type { z } from "zod";
import { BerthError } from "../contract/errors.ts";
import { OfferedDownload, ReceivedFile, type WrittenFile } from "../contract/files.ts";
import { GuestFault, GuestRefusalCode } from "../contract/guest.ts";
import { parseValue, safeParseValue } from "../contract/validation.ts";
import { parseJson } from "../core/json-structure.ts";
import { lostError } from "../lifecycle/guest-leases.ts";
import type { OpenDownload } from "../machines/connections.ts";
import { UploadStream } from "./upload-stream.ts";

// Bytes from and to a guest, on streams that its calls open.

/** The limit of a guest's response to an upload, in bytes. */
const maximumAnswer = 256 * 1024;
/** How long a guest may take to respond once it has everything: a large archive is checked and flushed to its disk. */
const answerMs = 600_000;

/** The guest's bytes as they come out of `filter`. Closing either end breaks the other. */
export function received(stream: Duplex, filter: Duplex): Readable {
  stream.end();
  stream.once("error", (error) => filter.destroy(error));
  // A stream that is reset does not always fail: the filter notices missing bytes.
  stream.once("close", () => filter.writableEnded || filter.end());
  filter.once("close", () => stream.destroy());
  return stream.pipe(filter);
}

/** How long a guest may take to describe a file. */
const lineMs = 60_000;
const maximumLine = 128 * 1024;

/** Takes the first line from a stream. Rejects if it is too long or late, or the stream ends before. */
export function firstLine(stream: Duplex): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  let line = Buffer.alloc(0);
  const read = () => {
    for (let chunk = stream.read() as Buffer | null; chunk !== null; chunk = stream.read() as Buffer | null) {
      const end = chunk.indexOf(0x0a);
      line = Buffer.concat([line, end < 0 ? chunk : chunk.subarray(0, end)]);
      if (line.length > maximumLine) return reject(new Error("the guest sent a line that is too long"));
      if (end < 0) continue;
      const rest = chunk.subarray(end + 1);
      if (rest.length > 0) stream.unshift(rest);
      return resolve(line);
    }
  };
  const closed = () => reject(new Error("the guest closed the connection"));
  const late = setTimeout(() => reject(new Error("the guest did not describe a file")), lineMs);
  stream.on("readable", read).once("end", closed).once("close", closed);
  return promise.finally(() => {
    clearTimeout(late);
    stream.off("readable", read).off("end", closed).off("close", closed);
  });
}

/** A written file, or an unpacked archive with the entity tags of its files. */
export type SentFile = WrittenFile & z.output<typeof ReceivedFile>;

/** Sends all bytes and resolves with the guest's response. After a refusal, the rest of the bytes is ignored. */
export async function sendBytes(stream: Duplex, bytes: Readable, open: OpenDownload | null = null): Promise<SentFile> {
  const over = new AbortController();
  let late: NodeJS.Timeout | undefined;
  const hash = createHash("sha256");
  let size = 0;
  const upload = new UploadStream(stream, open);
  const sent = pump(bytes, upload, over.signal, (chunk) => {
    hash.update(chunk);
    size += chunk.length;
  });
  const brokenOff = sent.then(
    () =>
      new Promise<never>((_, reject) => {
        late = setTimeout(() => reject(new Error("the guest did not respond to an upload")), answerMs);
      }),
    () => {
      throw new BerthError("request_invalid", "The upload broke off; nothing was changed.");
    },
  );
  try {
    const received = await Promise.race([answerOf(stream, upload), brokenOff]);
    return { ...received, size, sha256: hash.digest("hex") };
  } catch (error) {
    throw lostError(error);
  } finally {
    over.abort();
    clearTimeout(late);
    stream.destroy();
    upload.destroy();
  }
}

async function pump(
  bytes: Readable,
  to: UploadStream,
  over: AbortSignal,
  seen: (chunk: Buffer) => void,
): Promise<void> {
  // Left open: the sender still gets a response.
  for await (const chunk of bytes.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    if (over.aborted) continue;
    seen(chunk);
    await to.send(chunk, over);
  }
  if (!over.aborted) to.end();
}

/** The guest's last line: its result, or why it refused. A line before it can offer `upload` a download. */
async function answerOf(stream: Duplex, upload: UploadStream): Promise<z.output<typeof ReceivedFile>> {
  let text = Buffer.alloc(0);
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    text = Buffer.concat([text, chunk]);
    if (text.length > maximumAnswer) throw new Error("the guest's response is too long");
    const lines = text
      .toString()
      .split("\n")
      .slice(0, -1)
      .map((line) => parseJson(Buffer.from(line)));
    const offered = safeParseValue(OfferedDownload, lines[0]);
    if (offered.success) upload.offer(offered.data.tunnel);
    const answer = offered.success ? lines[1] : lines[0];
    if (answer !== undefined) return receivedOf(answer);
  }
  throw new Error("the guest closed the connection");
}

/** Throws the guest's refusal. */
function receivedOf(answer: unknown): z.output<typeof ReceivedFile> {
  const whole = safeParseValue(ReceivedFile, answer);
  if (whole.success) return whole.data;
  const { code, message } = parseValue(GuestFault, answer);
  const refusal = GuestRefusalCode.safeParse(code);
  throw refusal.success ? new BerthError(refusal.data, message) : new Error(`in the guest: ${message}`);
}
