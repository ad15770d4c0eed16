import { constants } from "node:fs";
import { type FileHandle, open, opendir } from "node:fs/promises";

/** The longest path that begins at the root or at an open folder. The kernel takes 4,095 bytes, and a name has up to 255. */
const longestPath = 3_800;

/** Opens a folder only to reach what is in it (open(2)): it need not be readable. */
const openPath = 0o10000000 | constants.O_DIRECTORY | constants.O_NOFOLLOW;

const slash = Buffer.from("/");

/**
 * A folder at any depth, with names of any bytes. The kernel refuses paths over 4,095 bytes: deep in a tree, the paths of
 * entries begin at an open descriptor of this process, which other processes of the user can use, too.
 */
export class Folder implements AsyncDisposable {
  readonly path: Buffer;
  readonly #handle: FileHandle | null;

  private constructor(path: Buffer, handle: FileHandle | null) {
    this.path = path;
    this.#handle = handle;
  }

  static async open(path: Buffer): Promise<Folder> {
    if (path.length <= longestPath) return new Folder(path, null);
    const handle = await open(path, openPath);
    return new Folder(Buffer.from(`/proc/${process.pid}/fd/${handle.fd}`), handle);
  }

  pathOf(name: Buffer): Buffer {
    return Buffer.concat([this.path, slash, name]);
  }

  /** In the order of the file system. */
  async *entries(): AsyncGenerator<{ name: Buffer; path: Buffer; isFolder: boolean }> {
    // Node's types know names as text only.
    const options = { encoding: "buffer" as BufferEncoding, bufferSize: 256 };
    for await (const entry of await opendir(this.path as unknown as string, options)) {
      const name = entry.name as unknown as Buffer;
      yield { name, path: this.pathOf(name), isFolder: entry.isDirectory() };
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle?.close();
  }
}
