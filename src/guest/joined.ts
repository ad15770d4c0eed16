import { Duplex, type Readable, Writable } from "node:stream";

/**
 * One stream of two. They end with it: `Duplex.from` alone leaves the readable open if the writable has finished before
 * (Node 24.21), and with it the program that writes to it.
 */
export function joined(readable: Readable, writable: Writable): Duplex {
  const both = Duplex.from({ readable, writable });
  both.once("close", () => {
    readable.destroy();
    writable.destroy();
  });
  return both;
}

/** A stream that sends what is read from `readable`. It ignores what it receives. */
export function sending(readable: Readable): Duplex {
  return joined(readable, new Writable({ write: (_chunk, _encoding, done) => done() }));
}
