import type { Duplex, Readable } from "node:stream";
import type { AgentState } from "../agents/agent.ts";
import type { AuthorStore } from "../agents/author-store.ts";
import type { FileEdit } from "../contract/changes.ts";
import { BerthError } from "../contract/errors.ts";
import type {
  ArchiveFolder,
  ChangeFile,
  ExtractArchive,
  FileEntry,
  FileEvent,
  FileTarget,
  ListFolder,
  MachineEntry,
  MachineFolderPage,
  ReadFile,
  WatchFiles,
  WriteFile,
  WrittenFile,
} from "../contract/files.ts";
import { StatResult } from "../contract/files.ts";
import type { GuestClient } from "../contract/guest-calls.ts";
import type { EditResult } from "../contract/guest-file-calls.ts";
import { parseValue } from "../contract/validation.ts";
import { exactly, fromFrames } from "../core/frames.ts";
import type { Caller } from "../core/http/caller.ts";
import { parseJson } from "../core/json-structure.ts";
import { type GuestLease, type GuestLeases, lostError } from "../lifecycle/guest-leases.ts";
import { firstLine, received, sendBytes } from "./transfers.ts";

type Asking = Pick<Caller, "accountId" | "personId" | "keyId">;

export interface OpenedFile {
  found: StatResult;
  bytes: Readable | null;
}

/**
 * Files in an agent's machine, which is woken for them and stays awake during a transfer. Every method throws the errors
 * of `GuestLeases.use`, and the guest's error codes for files.
 */
export class Files {
  readonly #leases: GuestLeases;
  readonly #authors: AuthorStore;

  constructor(leases: GuestLeases, authors: AuthorStore) {
    this.#leases = leases;
    this.#authors = authors;
  }

  stat(agent: AgentState, caller: Asking | "admitted", target: FileTarget): Promise<StatResult> {
    return this.#leases.use(agent, caller, (guest) => guest.statFile(target), "again");
  }

  /**
   * An entry, and the bytes of a regular file. Their stream fails if they break off. Null if the machine's runner is of an
   * older image.
   */
  async open(agent: AgentState, caller: Asking, target: FileTarget): Promise<OpenedFile> {
    const begin = (guest: GuestClient) => guest.openFile(target);
    const opened = await this.#open(agent, caller, begin).catch((error: unknown) => {
      if (error instanceof BerthError && error.code === "upgrade_required") return null;
      throw error;
    });
    if (!opened) return { found: await this.stat(agent, "admitted", target), bytes: null };
    try {
      const found = parseValue(StatResult, parseJson(await firstLine(opened.stream)));
      const { entry, hasLength } = found;
      if (entry.type === "file")
        return { found, bytes: received(opened.stream, hasLength ? exactly(entry.size) : fromFrames()) };
      opened.stream.destroy();
      return { found, bytes: null };
    } catch (error) {
      opened.stream.destroy();
      throw lostError(error);
    }
  }

  list(agent: AgentState, caller: Asking | "admitted", request: ListFolder): Promise<MachineFolderPage> {
    return this.#leases.use(agent, caller, (guest) => guest.listFolder(request), "again");
  }

  /** The entries of a machine's answer, with their authors. */
  async withAuthors(agent: AgentState, entries: readonly MachineEntry[]): Promise<FileEntry[]> {
    const etags = entries.flatMap(({ type, etag }) => (type === "file" && etag !== null ? [etag] : []));
    const authors = await this.#authors.of(agent.id, "file", etags);
    return entries.map(({ etag, ...entry }) => ({ ...entry, createdBy: authors.get(etag ?? "") ?? null }));
  }

  /** Ends when `gone` aborts. A move does not: its files would be at both paths. */
  async change(
    agent: AgentState,
    caller: Asking,
    request: ChangeFile,
    gone?: AbortSignal,
  ): Promise<MachineEntry | null> {
    const options = gone && request.action !== "move" ? { signal: gone } : {};
    const change = (guest: GuestClient) => guest.changeFile(request, options);
    const { entry } = await this.#leases.use(agent, caller, change, "once");
    if (request.action === "copy" && entry?.type === "file" && entry.etag !== null)
      await this.#wrote(agent, caller, [entry.etag]);
    return entry;
  }

  /** The requested bytes. The stream fails if they break off. */
  async read(agent: AgentState, caller: Asking | "admitted", request: ReadFile): Promise<Readable> {
    const { stream } = await this.#open(agent, caller, (guest) => guest.readFile(request));
    return received(stream, request.length === null ? fromFrames() : exactly(request.length));
  }

  /** A folder as an archive. The stream fails if it breaks off. */
  async archive(agent: AgentState, caller: Asking | "admitted", request: ArchiveFolder): Promise<Readable> {
    const { stream } = await this.#open(agent, caller, (guest) => guest.archiveFolder(request));
    return received(stream, fromFrames());
  }

  /** Writes a file. If the bytes break off, the existing file stays. */
  write(agent: AgentState, caller: Asking, request: WriteFile, bytes: Readable): Promise<WrittenFile> {
    return this.#send(agent, caller, (guest) => guest.writeFile({ ...request, acceptsDownload: true }), bytes);
  }

  /** Edits text files of the agent's home. See `editFiles` in the table of guest calls. */
  async edit(agent: AgentState, caller: Asking, edits: FileEdit[]): Promise<EditResult> {
    const result = await this.#leases.use(agent, caller, (guest) => guest.editFiles({ edits }), "once");
    const etags = result.edited.flatMap(({ etag }) => etag ?? []);
    await this.#wrote(agent, caller, etags);
    return result;
  }

  /** Unpacks an archive into a folder. If the bytes break off, nothing is unpacked. */
  extract(agent: AgentState, caller: Asking, request: ExtractArchive, bytes: Readable): Promise<WrittenFile> {
    return this.#send(agent, caller, (guest) => guest.extractArchive(request), bytes);
  }

  async #send(
    agent: AgentState,
    caller: Asking,
    begin: (guest: GuestClient) => Promise<Duplex>,
    bytes: Readable,
  ): Promise<WrittenFile> {
    const { stream, held } = await this.#open(agent, caller, begin);
    const { unpacked, ...written } = await sendBytes(stream, bytes, held.openDownload);
    await this.#wrote(agent, caller, written.etag === null ? unpacked : [written.etag]);
    return written;
  }

  /** Changes as they happen, until `gone` aborts or the machine stops. Throws before the first batch. */
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

  async #wrote(agent: AgentState, author: Asking, etags: readonly string[]): Promise<void> {
    if (etags.length > 0) await this.#authors.insert(agent.id, "file", etags, author);
  }

  /** Begins a transfer. The machine stays awake until its stream closes. */
  async #open(agent: AgentState, caller: Asking | "admitted", begin: (guest: GuestClient) => Promise<Duplex>) {
    const opened = await this.#leases.open(agent, caller, begin);
    opened.stream.once("close", () => opened.held[Symbol.dispose]());
    return opened;
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
