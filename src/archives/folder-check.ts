import { Transform } from "node:stream";
import type { Header } from "tar";
import { blockBytes, paddingOf } from "./parts.ts";
import { headerOf, invalid } from "./read.ts";

/** The limits of a folder's tar. */
export interface FolderLimits {
  /** In total, in bytes. */
  bytes: number;
  /** Whether only files are allowed, no folders or links. */
  isFlat: boolean;
}

const maximumEntries = 2_000_000;
const maximumDepth = 200;
/** The longest header of extended attributes, and the longest path with it, in bytes. */
const maximumExtended = 64 * 1024;
const maximumPath = 4_095;

/** The allowed types of entries (POSIX, "ustar Interchange Format"). */
const kinds: Readonly<Record<string, "file" | "link" | "symlink" | "folder" | "fifo">> = {
  File: "file",
  OldFile: "file",
  ContiguousFile: "file",
  Link: "link",
  SymbolicLink: "symlink",
  Directory: "folder",
  FIFO: "fifo",
};

interface OpenFolder {
  name: string;
  /** The name of the folder's last entry so far. */
  last: string | null;
}

/** The extended headers' fields for the next entry. */
interface Extended {
  path?: string;
  linkpath?: string;
  size?: number;
  /** The name of a sparse file, whose `path` is invented (GNU tar's manual, "PAX Format, Version 1.0"). */
  sparseName?: string;
}

/** The header fields of version 1.0 for a sparse file. Its map is in the file's bytes. */
const sparseKeys = new Set(["GNU.sparse.major", "GNU.sparse.minor", "GNU.sparse.name", "GNU.sparse.realsize"]);

/**
 * Forwards the tar of a folder. Fails with `archive_invalid` if it would unpack outside of that folder. Its memory does
 * not grow with the number of entries, because it requires an order: each folder precedes its entries, and names within
 * a folder ascend by their bytes, as with GNU tar's `--sort=name`. A duplicate name, or a path through a link, breaks
 * the order.
 */
export function folderCheck(name: string, limits: FolderLimits): Transform {
  const check = new FolderCheck(name, limits);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      try {
        check.add(chunk);
        done(null, chunk);
      } catch (error) {
        done(error as Error);
      }
    },
    flush(done) {
      try {
        check.end();
        done();
      } catch (error) {
        done(error as Error);
      }
    },
  });
}

class FolderCheck {
  readonly #name: string;
  readonly #limits: FolderLimits;
  readonly #folders: OpenFolder[] = [{ name: "", last: null }];
  #bytes = 0;
  #entries = 0;
  /** The number of bytes to skip. */
  #skipped = 0;
  /** The part being read: a header, or the content of an extended header. */
  #gathered: Buffer = Buffer.alloc(0);
  #wanted = blockBytes;
  /** The extended header being read. */
  #extending: { type: string; size: number } | null = null;
  #extended: Extended = {};
  /** Zero blocks seen: the second ends the archive. */
  #zeros = 0;

  constructor(name: string, limits: FolderLimits) {
    this.#name = name;
    this.#limits = limits;
  }

  add(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#limits.bytes) throw invalid(`${this.#name} has more than ${this.#limits.bytes} bytes`);
    for (let rest = chunk; rest.length > 0; ) {
      if (this.#skipped > 0) {
        const passed = Math.min(this.#skipped, rest.length);
        this.#skipped -= passed;
        rest = rest.subarray(passed);
        continue;
      }
      const part = rest.subarray(0, this.#wanted - this.#gathered.length);
      rest = rest.subarray(part.length);
      this.#gathered = this.#gathered.length === 0 ? part : Buffer.concat([this.#gathered, part]);
      if (this.#gathered.length === this.#wanted) this.#take(this.#gathered);
    }
  }

  end(): void {
    if (this.#skipped > 0 || this.#gathered.length > 0 || this.#zeros < 2) throw invalid(`${this.#name} is cut off`);
  }

  #take(gathered: Buffer): void {
    this.#gathered = Buffer.alloc(0);
    this.#wanted = blockBytes;
    if (this.#extending) {
      this.#extend(gathered, this.#extending);
      return;
    }
    if (gathered.every((byte) => byte === 0)) {
      this.#zeros++;
      return;
    }
    if (this.#zeros > 0) throw invalid(`${this.#name} continues after its end`);
    const header = headerOf(gathered, this.#name);
    const size = this.#extended.size ?? header.size ?? 0;
    if (!Number.isSafeInteger(size) || size < 0 || size > this.#limits.bytes) {
      throw invalid(`${this.#name} has an entry of an impossible size`);
    }
    if (["ExtendedHeader", "NextFileHasLongPath", "NextFileHasLongLinkpath"].includes(header.type)) {
      if (size > maximumExtended) throw invalid(`${this.#name} has too long a name`);
      if (size > 0) this.#extending = { type: header.type, size };
      if (size > 0) this.#wanted = size + paddingOf(size);
      return;
    }
    this.#entry(gathered, header, size);
    this.#extended = {};
    this.#skipped = size + paddingOf(size);
  }

  #extend(padded: Buffer, { type, size }: { type: string; size: number }): void {
    const bytes = padded.subarray(0, size);
    if (type === "NextFileHasLongPath") this.#extended.path = untilNull(bytes);
    else if (type === "NextFileHasLongLinkpath") this.#extended.linkpath = untilNull(bytes);
    else Object.assign(this.#extended, this.#records(bytes));
    this.#extending = null;
  }

  /** Records of an extended header, `LENGTH KEY=VALUE\n`. */
  #records(bytes: Buffer): Extended {
    const found: Extended = {};
    for (let at = 0; at < bytes.length; ) {
      const space = bytes.indexOf(0x20, at);
      const length = Number(bytes.toString("latin1", at, Math.max(space, at)));
      const end = at + length;
      const equals = bytes.indexOf(0x3d, space);
      const isWhole = space > at && length > 0 && end <= bytes.length && equals > space && equals < end;
      if (!isWhole || bytes[end - 1] !== 0x0a) throw invalid(`${this.#name} has a damaged extended header`);
      const key = bytes.toString("latin1", space + 1, equals);
      const value = bytes.toString("latin1", equals + 1, end - 1);
      if (key.startsWith("GNU.sparse.") && !sparseKeys.has(key)) throw this.#otherSparse();
      if (key === "GNU.sparse.name") found.sparseName = value;
      if (key === "GNU.sparse.major" && value !== "1") throw this.#otherSparse();
      if (key === "path" || key === "linkpath") found[key] = value;
      if (key === "size") found.size = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
      at = end;
    }
    return found;
  }

  #otherSparse(): Error {
    return invalid(`${this.#name} has a file with holes in another format than GNU tar's 1.0`);
  }

  #entry(block: Buffer, header: Header, size: number): void {
    const path = this.#extended.sparseName ?? this.#extended.path ?? pathIn(block);
    const shown = `${this.#name}: ${Buffer.from(path, "latin1").toString("utf8").slice(0, 200).toWellFormed()}`;
    const kind = kinds[header.type];
    if (!kind) throw invalid(`${shown} is neither a file, a folder nor a link`);
    if (this.#limits.isFlat && kind !== "file") throw invalid(`${shown} is no plain file`);
    if (kind !== "file" && size > 0) throw invalid(`${shown} has an impossible size`);
    if (++this.#entries > maximumEntries) throw invalid(`${this.#name} has more than ${maximumEntries} entries`);
    const parts = inside(path, shown);
    if (this.#limits.isFlat && parts.length !== 1) throw invalid(`${shown} is in a folder`);
    this.#place(parts, kind === "folder", shown);
    if (kind === "link") inside(this.#extended.linkpath ?? untilNull(block.subarray(157, 257)), `${shown}, a link,`);
  }

  /**
   * Requires that the entry's folder precedes it, and that its name is greater than that of the folder's previous
   * entry.
   */
  #place(parts: readonly string[], isFolder: boolean, shown: string): void {
    if (parts.length === 0) {
      if (this.#entries > 1 || !isFolder) throw invalid(`${shown} is not in its place`);
      return;
    }
    if (parts.length > maximumDepth) throw invalid(`${shown} is in more than ${maximumDepth} folders`);
    this.#folders.length = Math.min(this.#folders.length, parts.length);
    const isBelow = parts.slice(0, -1).every((part, index) => this.#folders[index + 1]?.name === part);
    if (!isBelow) throw invalid(`${shown} does not come after its folder`);
    const folder = this.#folders.at(-1)!;
    const own = parts.at(-1)!;
    if (folder.last !== null && own <= folder.last) throw invalid(`${shown} comes twice, or is out of order`);
    folder.last = own;
    if (isFolder) this.#folders.push({ name: own, last: null });
  }
}

/** The parts of a relative path, each byte of it as a character. Throws `archive_invalid` if it leaves its folder. */
function inside(path: string, shown: string): string[] {
  if (path.startsWith("/")) throw invalid(`${shown} has an absolute path`);
  if (path.length > maximumPath || path.includes("\0")) throw invalid(`${shown} has an impossible path`);
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) throw invalid(`${shown} leads out of its folder`);
  return parts;
}

/** A header's own path. Only POSIX archives have a prefix. */
function pathIn(block: Buffer): string {
  const name = untilNull(block.subarray(0, 100));
  const prefix = block.toString("latin1", 257, 263) === "ustar\0" ? untilNull(block.subarray(345, 500)) : "";
  return prefix === "" ? name : `${prefix}/${name}`;
}

function untilNull(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString("latin1", 0, end < 0 ? bytes.length : end);
}
