import { createHash } from "node:crypto";
import { once } from "node:events";
import type { Duplex, Readable, Writable } from "node:stream";
import { BerthError } from "../contract/errors.ts";
import {
  type ArchiveFolder,
  type ChangeFile,
  type ExtractArchive,
  type FileEntry,
  type FileEvent,
  type FileTarget,
  type FolderPage,
  type ListFolder,
  type ReadFile,
  ReceivedFile,
  type StatResult,
  type WatchFiles,
  type WriteFile,
  type WrittenFile,
} from "../contract/files.ts";
import { GuestFault, GuestRefusalCode } from "../contract/guest.ts";
import type { GuestClient } from "../contract/guest-calls.ts";
import { exactly, fromFrames, toFrames } from "../platform/frames.ts";
import type { AgentState } from "./agent.ts";
import type { Caller } from "./caller.ts";
import { type GuestLease, type GuestLeases, lostError } from "./guest-leases.ts";

type Asking = Pick<Caller, "accountId" | "keyId">;

/** The longest answer of a guest to what it received. */
const maximumAnswer = 64 * 1024;
/** How long a guest may take to answer when it has everything: a large archive is checked and flushed to its disk. */
const answerMs = 600_000;

/**
 * Files in an agent's machine, which is woken for them and stays awake during a transfer. Every method throws as
 * `GuestLeases.use`, and the codes of files that the guest refuses with.
 */
export class Files {
  readonly #leases: GuestLeases;

  constructor(leases: GuestLeases) {
    this.#leases = leases;
  }

  stat(agent: AgentState, caller: Asking, target: FileTarget): Promise<StatResult> {
    return this.#leases.use(agent, caller, (guest) => guest.statFile(target), "again");
  }

  list(agent: AgentState, caller: Asking, request: ListFolder): Promise<FolderPage> {
    return this.#leases.use(agent, caller, (guest) => guest.listFolder(request), "again");
  }

  async change(agent: AgentState, caller: Asking, request: ChangeFile): Promise<FileEntry | null> {
    return (await this.#leases.use(agent, caller, (guest) => guest.changeFile(request), "once")).entry;
  }

  /** The bytes asked for. The stream fails if they break off. */
  async read(agent: AgentState, caller: Asking, request: ReadFile): Promise<Readable> {
    const stream = await this.#open(agent, caller, (guest) => guest.readFile(request));
    return through(stream, exactly(request.length));
  }

  /** A folder as an archive. The stream fails if it breaks off. */
  async archive(agent: AgentState, caller: Asking, request: ArchiveFolder): Promise<Readable> {
    const stream = await this.#open(agent, caller, (guest) => guest.archiveFolder(request));
    return through(stream, fromFrames());
  }

  /** Writes a file. If the bytes break off, the file that was there stays. */
  async write(agent: AgentState, caller: Asking, request: WriteFile, bytes: Readable): Promise<WrittenFile> {
    return send(await this.#open(agent, caller, (guest) => guest.writeFile(request)), bytes);
  }

  /** Unpacks an archive into a folder. If the bytes break off, nothing is unpacked. */
  async extract(agent: AgentState, caller: Asking, request: ExtractArchive, bytes: Readable): Promise<WrittenFile> {
    return send(await this.#open(agent, caller, (guest) => guest.extractArchive(request)), bytes);
  }

  /** Changes as they happen, until `gone` aborts or the machine ends. Throws before the first batch. */
  async watch(agent: AgentState, caller: Asking, request: WatchFiles, gone: AbortSignal) {
    await this.#leases.admit(agent, caller);
    const lease = await this.#leases.acquire(agent.id);
    try {
      const batches = (await lease.connect()).watchFiles(request, { signal: gone });
      return restOf(lease, await batches.next(), batches);
    } catch (error) {
      lease[Symbol.dispose]();
      throw lostError(error);
    }
  }

  /** Begins a transfer. The machine stays awake until its stream closes. */
  async #open(agent: AgentState, caller: Asking, begin: (guest: GuestClient) => Promise<Duplex>): Promise<Duplex> {
    const { stream, held } = await this.#leases.open(agent, caller, begin);
    stream.once("close", () => held[Symbol.dispose]());
    return stream;
  }
}

async function* restOf(
  lease: GuestLease,
  first: IteratorResult<FileEvent[]>,
  batches: AsyncGenerator<FileEvent[]>,
): AsyncGenerator<FileEvent[]> {
  using _ = lease;
  if (first.done) return;
  yield first.value;
  yield* batches;
}

/** The guest's bytes as they come out of `filter`. Either end breaks the other. */
function through(stream: Duplex, filter: Duplex): Readable {
  stream.end();
  stream.once("error", (error) => filter.destroy(error));
  // A stream that is reset need not fail: what is missing, the filter notices.
  stream.once("close", () => filter.writableEnded || filter.end());
  filter.once("close", () => stream.destroy());
  return stream.pipe(filter);
}

/** Sends all bytes and resolves with what the guest made of them. After a refusal, the rest of the bytes is ignored. */
async function send(stream: Duplex, bytes: Readable): Promise<WrittenFile> {
  const over = new AbortController();
  let late: NodeJS.Timeout | undefined;
  const hash = createHash("sha256");
  let size = 0;
  const frames = toFrames();
  frames.on("error", () => {});
  frames.pipe(stream);
  const sent = pump(bytes, frames, over.signal, (chunk) => {
    hash.update(chunk);
    size += chunk.length;
  });
  const brokenOff = sent.then(
    () =>
      new Promise<never>((_, reject) => {
        late = setTimeout(() => reject(new Error("the guest did not answer what it received")), answerMs);
      }),
    () => {
      throw new BerthError("request_invalid", "The upload broke off; nothing was changed.");
    },
  );
  try {
    const { path, created, etag } = await Promise.race([answerOf(stream), brokenOff]);
    return { path, created, etag, size, sha256: hash.digest("hex") };
  } catch (error) {
    throw lostError(error);
  } finally {
    over.abort();
    clearTimeout(late);
    stream.destroy();
  }
}

async function pump(bytes: Readable, to: Writable, over: AbortSignal, seen: (chunk: Buffer) => void): Promise<void> {
  // Left open: the one who sends is still to be answered.
  for await (const chunk of bytes.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    if (over.aborted) continue;
    seen(chunk);
    if (!to.write(chunk)) await once(to, "drain", { signal: over }).catch(() => {});
  }
  if (!over.aborted) to.end();
}

/** The guest's last line: what it has, or why it refused. */
async function answerOf(stream: Duplex): Promise<ReceivedFile> {
  let text = "";
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    text += chunk.toString("utf8");
    if (text.length > maximumAnswer) throw new Error("the guest's answer is too long");
    if (text.endsWith("\n")) break;
  }
  if (text === "") throw new Error("the guest ended the connection");
  const answer: unknown = JSON.parse(text);
  const received = ReceivedFile.safeParse(answer);
  if (received.success) return received.data;
  const { code, message } = GuestFault.parse(answer);
  const refusal = GuestRefusalCode.safeParse(code);
  throw refusal.success ? new BerthError(refusal.data, message) : new Error(`in the guest: ${message}`);
}
