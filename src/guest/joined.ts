import { Duplex, type Readable, Writable } from "node:stream";

/**
 * Joins two streams into one and ends both with it: `Duplex.from` alone leaves the readable open if the writable has
 * finished before (Node 24.21), and with it the program that writes to it.
 */
export function joined(readable: Readable, writable: Writable): Duplex {
  const both = Duplex.from({ readable, writable });
  both.once("close", () => {
    readable.destroy();
    writable.destroy();
  });
  return both;
}

/** Sends the data of `readable`, and ignores input. */
export function sending(readable: Readable): Duplex {
  return joined(readable, new Writable({ write: (_chunk, _encoding, done) => done() }));
}
