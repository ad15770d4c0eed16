import { type ChildProcess, execFile } from "node:child_process";
import { once } from "node:events";
import { statfs } from "node:fs/promises";
import { type Duplex, pipeline, Readable, Transform, Writable } from "node:stream";
import { pipeline as piped } from "node:stream/promises";
import { promisify } from "node:util";
import { toFrames } from "../../core/frames.ts";
import { sending } from "../joined.ts";
import { FileFault } from "./faults.ts";

const run = promisify(execFile);

export const archiveEnvironment = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  LC_ALL: "C.UTF-8",
};

/** A message can name a path of 4,095 bytes, the kernel's limit, before it gives the reason. */
const keptOutput = 8_000;

/** Exit codes after a complete archive, and the archive for an empty input. */
export interface Wholeness {
  codes: readonly number[];
  nothing?: { code: number; bytes: Buffer };
}

/**
 * A program's output in frames. The last frame is sent only if the exit code reports success. Ignores input. Rejects if
 * the program cannot be started.
 */
export async function outputOf(child: ChildProcess, { codes, nothing }: Wholeness): Promise<Duplex> {
  const output = errorOutput(child);
  const exited = once(child, "close");
  exited.catch(() => {});
  await once(child, "spawn");
  async function* bytes() {
    yield* child.stdout as AsyncIterable<Buffer>;
    const [code] = (await exited) as [number | null];
    if (code !== null && code === nothing?.code) yield nothing.bytes;
    else if (!codes.includes(code ?? -1)) throw new Error(`${child.spawnfile} ended with ${code}: ${output()}`);
  }
  const frames = toFrames();
  pipeline(Readable.from(bytes()), frames, () => {});
  // Not in the generator, which may wait for a silent program.
  frames.once("close", () => {
    child.kill("SIGKILL");
    child.stdout!.destroy(); // Stops the compressor that the program has started.
  });
  return sending(frames);
}

/**
 * Pipes the bytes to a `tar` that unpacks into `folder`, through `decompress` if they are compressed. Throws
 * `archive_invalid`, and `machine_disk_full` if they exceed the free space.
 */
export async function unpackWith(
  child: ChildProcess,
  bytes: Readable,
  { folder, decompress = null }: { folder: string; decompress?: Transform | null },
): Promise<void> {
  const output = errorOutput(child);
  const exited = once(child, "close");
  exited.catch(() => {});
  const tar = intoTar(child.stdin!);
  try {
    const { bavail, bsize } = await statfs(folder);
    const bounded = atMost(bavail * bsize);
    if (decompress) await piped(bytes, decompress, bounded, tar);
    else await piped(bytes, bounded, tar);
  } catch (error) {
    child.kill("SIGKILL");
    await exited.catch(() => {});
    const isZlib = String((error as NodeJS.ErrnoException).code).startsWith("Z_");
    throw isZlib ? new FileFault("archive_invalid", "The archive is not a whole gzip file.") : error;
  }
  const [code] = (await exited) as [number | null];
  if (code === 0) return;
  if (/No space left|quota exceeded/i.test(output()))
    throw new FileFault("machine_disk_full", "The machine's disk is full.");
  if (/File name too long/.test(output()))
    throw new FileFault(
      "file_name_too_long",
      "The archive has a path of more than 4,095 bytes, which tar cannot unpack.",
    );
  throw new FileFault(
    "archive_invalid",
    `The archive cannot be unpacked: ${output().trim().slice(0, 500).toWellFormed()}`,
  );
}

/** Flushes the file system that `path` is on. */
export async function flushDisk(path: string): Promise<void> {
  await run("sync", ["--file-system", path], { env: archiveEnvironment });
}

/** Writes to tar, which may exit before the archive ends: after its end marker, or on an error. The rest is ignored. */
function intoTar(stdin: Writable): Writable {
  let isClosed = false;
  let next = () => {};
  const closed = () => {
    isClosed = true;
    next();
  };
  stdin.on("error", closed).on("close", closed);
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      next = () => {
        next = () => {};
        done();
      };
      if (isClosed) next();
      else stdin.write(chunk, () => next());
    },
    final(done) {
      stdin.end();
      done();
    },
  });
}

function atMost(bytes: number): Transform {
  let left = bytes;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      left -= chunk.length;
      if (left < 0)
        done(new FileFault("machine_disk_full", "The machine's disk has no room for what is in the archive."));
      else done(null, chunk);
    },
  });
}

/** The start of a program's stderr. */
function errorOutput(child: ChildProcess): () => string {
  let text = "";
  child.stderr!.setEncoding("utf8").on("data", (chunk: string) => {
    text = (text + chunk).slice(0, keptOutput);
  });
  return () => text;
}
