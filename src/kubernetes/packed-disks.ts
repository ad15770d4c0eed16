import { mkdir, mkdtempDisposable, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { BerthError } from "../contract/errors.ts";
import { type ArchivedFile, ArchiveError, readArchive } from "../core/archive/reader.ts";
import { writeParts } from "../core/archive/write-parts.ts";
import type { DiskReserve } from "../core/disk-reserve.ts";
import { packedFile } from "./keeper-calls.ts";
import { bounded } from "./passed-files.ts";

/** Bytes written between two checks of the server's disk. */
const lookEvery = 64 * 1024 ** 2;

/** Machines' disks during an export, each as one file on this server. Keepers' data is not trusted. */
export class PackedDisks {
  readonly #folder: string;
  readonly #reserve: DiskReserve;

  private constructor(folder: string, reserve: DiskReserve) {
    this.#folder = folder;
    this.#reserve = reserve;
  }

  static async open(folder: string, reserve: DiskReserve): Promise<PackedDisks> {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return new PackedDisks(folder, reserve);
  }

  /** Throws `disk_full`. */
  async requireSpace(): Promise<void> {
    await this.#reserve.require();
  }

  /**
   * Receives the packed disk of a snapshot. Returns its path; the caller removes it. Throws `disk_full`, and
   * `machine_failed` for an invalid or incomplete disk, whose file it removes.
   */
  async receive(snapshot: string, source: AsyncIterable<Buffer>, maximumBytes: number): Promise<string> {
    const path = packedFile(snapshot);
    const packed = join(this.#folder, `${snapshot}.qcow2`);
    await using partial = await mkdtempDisposable(join(this.#folder, "partial-"));
    const bounds = { files: 1, bytes: maximumBytes };
    const take = (file: ArchivedFile) => writeParts(partial.path, bounded(this.#spaced(file), bounds));
    try {
      const files = await readArchive(
        Readable.from(source),
        { what: "archive", admits: (name) => name === path, maximumFiles: 1 },
        take,
      );
      if (files.length === 0) throw new ArchiveError("The archive has no disk.");
      await rename(join(partial.path, path), packed);
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      throw new BerthError("machine_failed", `The machine's disk could not be taken over. ${error.message}`);
    }
    return packed;
  }

  /** Makes reads of a file throw once the server's disk is too full. */
  #spaced({ path, parts, size }: ArchivedFile): ArchivedFile {
    const reserve = this.#reserve;
    const looked = (async function* () {
      let since = 0;
      for await (const part of parts) {
        since += part.bytes.length;
        if (since >= lookEvery) {
          await reserve.require();
          since = 0;
        }
        yield part;
      }
    })();
    return { path, parts: looked, size };
  }
}
