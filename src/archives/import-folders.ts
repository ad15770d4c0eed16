import { randomBytes } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Readable, Transform, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type AgentFolder, ArchivedSettings, archiveVersion, Manifest } from "../contract/archives.ts";
import { BerthError } from "../contract/errors.ts";
import { safeParseValue, textOf } from "../contract/validation.ts";
import type { DiskReserve } from "../core/disk-reserve.ts";
import { Quarantine, type Quarantined } from "../core/quarantine.ts";
import type { ImportedItem } from "../turns/transcript.ts";
import { folderCheck } from "./folder-check.ts";
import { invalid, parseJson, readArchive } from "./read.ts";
import { readTranscript } from "./transcripts.ts";

/** The folder of a data folder that holds received archives. */
const importsFolder = "imports";
const partialEnding = ".partial-";
const transcriptFile = "transcript.jsonl";
const maximumTranscript = 1024 ** 3;
const maximumState = 64 * 1024 ** 2;
/** The number of bytes written between two checks of the disk's free space. */
const lookEvery = 64 * 1024 ** 2;

/** The ids of the completely received archives in a data folder. */
export async function receivedIn(dataFolder: string): Promise<string[]> {
  const names = await readdir(join(dataFolder, importsFolder)).catch(() => []);
  return names.filter((name) => !name.includes(partialEnding));
}

/** The description of a completely received archive. */
export interface ReceivedArchive {
  manifest: Manifest;
  settings: ArchivedSettings;
}

/**
 * Received and checked archives, until their contents are in their agents. Each is a folder, named by the agent's id,
 * with the transcript and the tars of the machine's folders. It is filled under another name and then renamed, so every
 * folder with an id is complete.
 */
export class ImportFolders {
  readonly #dataFolder: string;
  readonly #folder: string;
  readonly #quarantine: Quarantine;
  readonly #reserve: Pick<DiskReserve, "require">;

  constructor(dataFolder: string, reserve: Pick<DiskReserve, "require">) {
    this.#dataFolder = dataFolder;
    this.#folder = join(dataFolder, importsFolder);
    this.#quarantine = new Quarantine(dataFolder);
    this.#reserve = reserve;
  }

  /**
   * Receives an archive and stores it under `id`. Calls `accept` with the manifest before it reads the rest; `accept`
   * may throw. Throws `archive_invalid`, `archive_unsupported`, `disk_full`, and then stores nothing.
   */
  async receive(
    id: string,
    bytes: AsyncIterable<Buffer>,
    accept: (archive: ReceivedArchive) => Promise<void>,
  ): Promise<ReceivedArchive> {
    const partial = join(this.#folder, `${id}${partialEnding}${randomBytes(6).toString("hex")}`);
    await mkdir(partial, { recursive: true, mode: 0o700 });
    try {
      const received = await this.#parts(partial, bytes, accept);
      await force(partial);
      await rm(join(this.#folder, id), { recursive: true, force: true });
      await rename(partial, join(this.#folder, id));
      await force(this.#folder);
      return received;
    } catch (error) {
      await rm(partial, { recursive: true, force: true });
      throw error;
    }
  }

  async #parts(folder: string, bytes: AsyncIterable<Buffer>, accept: (archive: ReceivedArchive) => Promise<void>) {
    let manifest: Manifest | null = null;
    let settings: ArchivedSettings | null = null;
    for await (const { name, bytes: content } of readArchive(bytes)) {
      if (name === "berth.json") manifest = manifestOf(await gathered(content));
      else if (name === "settings.json") {
        settings = settingsOf(await gathered(content));
        await accept({ manifest: manifest!, settings });
      } else {
        const target = name === "disk.qcow2" ? passedOver() : kept(join(folder, name));
        await pipeline(content, checksOf(name, settings!), this.#spaced(), target);
      }
    }
    return { manifest: manifest!, settings: settings! };
  }

  /** Checks the disk's free space as bytes pass. */
  #spaced(): Transform {
    const reserve = this.#reserve;
    let since = 0;
    return new Transform({
      transform(chunk: Buffer, _encoding, done) {
        since += chunk.length;
        if (since < lookEvery) return done(null, chunk);
        since = 0;
        reserve.require().then(() => done(null, chunk), done);
      },
    });
  }

  /** The history in an archive's transcript. See `readTranscript`. */
  history(id: string, now: Date, gone: AbortSignal): AsyncGenerator<ImportedItem> {
    return readTranscript({ file: join(this.#folder, id, transcriptFile), now }, gone);
  }

  /** The tar of a machine's folder. Rejects if there is none. */
  async open(id: string, folder: AgentFolder): Promise<Readable> {
    const handle = await open(join(this.#folder, id, `${folder}.tar`));
    return handle.createReadStream({ highWaterMark: 256 * 1024 });
  }

  async remove(id: string): Promise<void> {
    await rm(join(this.#folder, id), { recursive: true, force: true });
  }

  /** Moves an archive to the quarantine. */
  async quarantine(id: string): Promise<void> {
    await this.#quarantine.add(join(this.#folder, id), { id, kind: "import", agent: null, runtime: null });
  }

  async quarantined(): Promise<Quarantined[]> {
    return (await this.#quarantine.list()).filter(({ kind }) => kind === "import");
  }

  async removeQuarantined(id: string): Promise<void> {
    await this.#quarantine.remove(id, "import");
  }

  /** The ids of all complete archives. */
  ids(): Promise<string[]> {
    return receivedIn(this.#dataFolder);
  }

  /** Removes archives that a crash left incomplete. Called at the server's start. */
  async removeHalfReceived(): Promise<void> {
    const names = await readdir(this.#folder).catch(() => []);
    for (const name of names) {
      if (name.includes(partialEnding)) await rm(join(this.#folder, name), { recursive: true, force: true });
    }
  }
}

function kept(path: string): Writable {
  return createWriteStream(path, { mode: 0o600, flush: true });
}

function passedOver(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}

function checksOf(name: string, { resources }: ArchivedSettings): Transform {
  const disk = resources.diskGiB * 1024 ** 3;
  if (name === "home.tar") return folderCheck(name, { bytes: disk, isFlat: false });
  if (name === "state.tar") return folderCheck(name, { bytes: maximumState, isFlat: true });
  // An image's tables take a little.
  return atMost(name, name === transcriptFile ? maximumTranscript : disk + disk / 16);
}

function atMost(name: string, bytes: number): Transform {
  let left = bytes;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      left -= chunk.length;
      if (left < 0) done(invalid(`${name} has more than ${bytes} bytes`));
      else done(null, chunk);
    },
  });
}

function manifestOf(bytes: Buffer): Manifest {
  const given = parseJson(bytes, "berth.json") as { format?: unknown; version?: unknown } | null;
  if (given?.format !== "berth-agent" || typeof given.version !== "number") {
    throw invalid("berth.json is not the manifest of an agent");
  }
  if (given.version > archiveVersion) {
    const message = `The archive has version ${given.version} of its format, and this Berth reads up to ${archiveVersion}: import it with the Berth that wrote it, or a newer one.`;
    throw new BerthError("archive_unsupported", message);
  }
  const parsed = safeParseValue(Manifest, given);
  if (parsed.success) return parsed.data;
  throw invalid(`berth.json is not as it has to be (${parsed.issues[0]!.field})`);
}

function settingsOf(bytes: Buffer): ArchivedSettings {
  const parsed = safeParseValue(ArchivedSettings, parseJson(bytes, "settings.json"));
  if (parsed.success) return parsed.data;
  throw invalid(`settings.json is not as it has to be (${textOf(parsed.issues.slice(0, 1))})`);
}

async function gathered(bytes: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Writes a folder's entries to the disk (fsync). */
async function force(path: string): Promise<void> {
  const handle = await open(path);
  await handle.sync();
  await handle.close();
}
