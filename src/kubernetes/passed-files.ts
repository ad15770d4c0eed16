import { addAbortListener } from "node:events";
import { mkdir, mkdtempDisposable, rename, rm, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { BerthError } from "../contract/errors.ts";
import { type ArchivedFile, ArchiveError, readArchive } from "../core/archive/reader.ts";
import { writeParts } from "../core/archive/write-parts.ts";
import type { QemuDriver } from "../machines/qemu/driver.ts";
import { nullWhereMissing } from "../machines/qemu/files.ts";
import { snapshotDeleted } from "../machines/spec.ts";
import { type Passed, packedFile } from "./keeper-calls.ts";

/** Sends and receives the files. */
type Keeping = Pick<QemuDriver, "stage" | "stageTemplate" | "takeStaged" | "fits" | "packedDisk">;

/** Removed on disposal. */
type Folder = AsyncDisposable & { path: string };

/** Names that stay inside the folders of a snapshot or a template. */
const pathForm = /^(layers|snapshots|templates)(\/(?!\.)[\w.-]{1,100}){2,3}$/;

/** The files without which the rest is useless. */
const records = { snapshots: "snapshot.json", templates: "template.json", disks: "disk.qcow2" };

/** More files than any snapshot has. */
const maximumFiles = 1_000;

/**
 * Files that pass from one keeper to another. Another keeper's data is not trusted, because an attacker may have taken
 * that keeper over.
 */
export class PassedFiles {
  readonly #keeping: Keeping;
  readonly #folder: string;

  private constructor(keeping: Keeping, folder: string) {
    this.#keeping = keeping;
    this.#folder = folder;
  }

  /** `folder`: on the file system of the machine's files. Removes files that an earlier keeper left there. */
  static async open(keeping: Keeping, folder: string): Promise<PassedFiles> {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { mode: 0o700 });
    return new PassedFiles(keeping, folder);
  }

  /** Links the files into a folder; moves a packed disk there. Throws `snapshot_not_found`, `template_failed`. */
  async stage({ kind, name }: Passed): Promise<Folder> {
    await using stack = new AsyncDisposableStack();
    const folder = stack.use(await this.#newFolder());
    if (kind === "disks") await this.#move(name, folder.path);
    else if (kind === "templates") await this.#keeping.stageTemplate(name, folder.path);
    else await this.#keeping.stage([name], folder.path);
    await requireRecord(folder.path, { kind, name }).catch(() => {
      throw snapshotDeleted();
    });
    stack.move();
    return folder;
  }

  /**
   * Receives another keeper's files into a folder, for `place`. Throws `template_failed` for a template that does not
   * fit this machine's processor, image or size, and `machine_failed` for incomplete or forbidden files.
   */
  async receive(what: Passed, source: Readable, signal: AbortSignal): Promise<Folder> {
    if (what.kind === "disks") throw new BerthError("path_not_found", "Disk uploads are not accepted.");
    if (what.kind === "templates" && !this.#keeping.fits(what.name)) {
      throw new BerthError("template_failed", `The warm template ${what.name} does not fit this machine.`);
    }
    await using stack = new AsyncDisposableStack();
    const folder = stack.use(await this.#newFolder());
    source.on("error", () => {}); // Thrown to its reader, if it still has one.
    const cut = () => source.destroy(new BerthError("machine_failed", "The recipient disconnected."));
    using _ = addAbortListener(signal, cut);
    try {
      await write(source, what, folder.path);
      await requireRecord(folder.path, what);
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      throw new BerthError("machine_failed", `The machine's files could not be taken over. ${error.message}`);
    }
    stack.move();
    return folder;
  }

  /** Moves received files to where machines are made of them. */
  async place({ path }: Folder): Promise<void> {
    await this.#keeping.takeStaged(path);
  }

  async #move(snapshot: string, folder: string): Promise<void> {
    const target = join(folder, packedFile(snapshot));
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await rename(this.#keeping.packedDisk(snapshot), target).catch(nullWhereMissing);
  }

  #newFolder(): Promise<Folder> {
    return mkdtempDisposable(join(this.#folder, "passed-"));
  }
}

async function write(source: Readable, what: Passed, folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const bounds = { files: maximumFiles, bytes: bavail * bsize };
  const own = `${what.kind}/${what.name}/`;
  const admits = (path: string) => pathForm.test(path) && (path.startsWith(own) || isBelow(path, what));
  await readArchive(source, { what: "archive", admits, maximumFiles }, (file) =>
    writeParts(folder, bounded(file, bounds)),
  );
}

/** Whether a snapshot may be based on this file. */
function isBelow(path: string, { kind }: Passed): boolean {
  return kind === "snapshots" && !path.startsWith("snapshots/");
}

/** Makes reads of a file throw once all files exceed their limits. */
export function bounded({ path, parts, size }: ArchivedFile, left: { files: number; bytes: number }): ArchivedFile {
  const limit = left.bytes;
  const require = (isWithin: boolean) => {
    if (!isWithin) throw new ArchiveError("The archive has more than the machine's volume holds.");
  };
  require(left.files-- > 0);
  const counted = (async function* () {
    for await (const part of parts) {
      left.bytes -= part.bytes.length;
      require(left.bytes >= 0 && part.offset + part.bytes.length <= limit);
      yield part;
    }
  })();
  const bytes = () => {
    const found = size();
    require(found <= limit);
    return found;
  };
  return { path, parts: counted, size: bytes };
}

async function requireRecord(folder: string, { kind, name }: Passed): Promise<void> {
  const found = await stat(join(folder, kind, name, records[kind])).catch(() => null);
  if (!found?.isFile()) throw new ArchiveError(`The archive has no record of ${name}.`);
}
