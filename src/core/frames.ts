import { Transform } from "node:stream";

// Frames, which distinguish the end of the bytes from a lost connection: each has its length in four bytes (big-endian)
// before it. A frame of length zero is the last. A trailer may follow, if both ends have agreed on one.

/** The longest frame that is accepted. */
const maximumFrame = 16 * 1024 * 1024;
/** The longest trailer that is accepted. */
const maximumTrailer = 1024;
const headerBytes = 4;

/** Splits bytes into frames, and ends with the last frame and the trailer. */
export function toFrames(trailer: () => string = () => ""): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      // In one piece: a separate header would become an HTTP/2 frame of its own.
      if (chunk.length > 0) this.push(Buffer.concat([header(chunk.length), chunk]));
      done();
    },
    flush(done) {
      done(null, Buffer.concat([header(0), Buffer.from(trailer())]));
    },
  });
}

/** Joins frames. Fails if they end without the last one, or continue after it, except with a trailer for `trailed`. */
export function fromFrames(trailed: ((trailer: string) => void) | null = null): Transform {
  let trailer = "";
  let head = Buffer.alloc(0);
  /** The rest of the current frame; null after the last. */
  let left: number | null = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let rest = chunk;
      while (rest.length > 0) {
        if (left === null) {
          trailer += rest.toString("latin1");
          if (!trailed || trailer.length > maximumTrailer) return done(new Error("bytes follow the last frame"));
          break;
        }
        if (left > 0) {
          const part = rest.subarray(0, left);
          this.push(part);
          left -= part.length;
          rest = rest.subarray(part.length);
          continue;
        }
        const taken = rest.subarray(0, headerBytes - head.length);
        head = Buffer.concat([head, taken]);
        rest = rest.subarray(taken.length);
        if (head.length < headerBytes) break;
        const length = head.readUInt32BE();
        head = Buffer.alloc(0);
        if (length > maximumFrame) return done(new Error("a frame is too long"));
        left = length === 0 ? null : length;
      }
      done();
    },
    flush(done) {
      if (left !== null) return done(new Error("the bytes broke off"));
      trailed?.(trailer);
      done();
    },
  });
}

function header(length: number): Buffer {
  const bytes = Buffer.alloc(headerBytes);
  bytes.writeUInt32BE(length);
  return bytes;
}

/** Passes exactly this many bytes. Fails on more or fewer. */
export function exactly(length: number): Transform {
  let left = length;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      left -= chunk.length;
      if (left < 0) done(new Error("more bytes came than were announced"));
      else done(null, chunk);
    },
    flush(done) {
      done(left === 0 ? null : new Error("the bytes broke off"));
    },
  });
}
