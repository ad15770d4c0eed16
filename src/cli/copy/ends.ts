import { Transform } from "node:stream";

/** A source or target of `berth cp`: a path in an agent's machine, or here (`agent` is null). */
interface End {
  agent: string | null;
  path: string;
}

/** `AGENT:PATH`, or a path here: anything with a slash before the colon. */
export function endOf(text: string): End {
  const named = /^([a-z][a-z0-9-]*):(.*)$/s.exec(text);
  return named ? { agent: named[1]!, path: named[2] || "." } : { agent: null, path: text };
}

/** Forwards bytes and reports their number so far. */
export function counted(seen: (bytes: number) => void): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      seen(bytes);
      done(null, chunk);
    },
  });
}
