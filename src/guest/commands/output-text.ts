import { isUtf8 } from "node:buffer";

/** The longest UTF-8 character, in bytes. */
const longest = 4;

/** A chunk of output in an event. */
export type OutputText = { text: string } | { base64: string };

/**
 * Converts a stream's chunks to text. A character that is cut between two chunks waits for its rest. A chunk that is
 * not UTF-8 is given in base64.
 */
export class OutputDecoder {
  #pending: Buffer = Buffer.alloc(0);

  /** Null if the whole chunk waits for its rest. */
  write(chunk: Buffer): OutputText | null {
    const bytes = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    const whole = bytes.length - cutBytes(bytes);
    this.#pending = Buffer.from(bytes.subarray(whole));
    return whole === 0 ? null : toText(bytes.subarray(0, whole));
  }

  end(): OutputText | null {
    const bytes = this.#pending;
    this.#pending = Buffer.alloc(0);
    return bytes.length === 0 ? null : toText(bytes);
  }
}

export function toText(bytes: Buffer): OutputText {
  return isUtf8(bytes) ? { text: bytes.toString("utf8") } : { base64: bytes.toString("base64") };
}

/** Number of bytes at the end that begin an incomplete character (RFC 3629). */
function cutBytes(bytes: Buffer): number {
  for (let back = 1; back < longest && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back]!;
    if ((byte & 0xc0) === 0x80) continue; // A continuation byte.
    const length = byte >= 0xf0 && byte < 0xf8 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1;
    return byte < 0xf8 && length > back ? back : 0;
  }
  return 0;
}
