import type { Answer, Bytes, Connection, RequestOptions } from "./connection.ts";
import { NotBerthError } from "./errors.ts";
import type { FileEntry, FileEvent, WrittenFile } from "./generated/types.gen.ts";
import { Pages } from "./pages.ts";
import { pathOf } from "./path.ts";

/** Options of every method about files. */
interface FileOptions extends RequestOptions {
  /** With whose rights, in the machine; the agent's by default. */
  user?: "agent" | "root";
}

/** The formats of archives. */
type ArchiveFormat = "gzip" | "tar" | "zip";

const archiveTypes: Readonly<Record<ArchiveFormat, string>> = {
  gzip: "application/gzip",
  tar: "application/x-tar",
  zip: "application/zip",
};

/** Entries asked for at a time. */
const pageSize = 1_000;

/** The files in an agent's machine. Paths are absolute, or from the agent's home folder. */
export class AgentFiles {
  readonly #connection: Connection;
  readonly #name: string;

  constructor(connection: Connection, name: string) {
    this.#connection = connection;
    this.#name = name;
  }

  /** A folder's entries, by name; with `recursive`, also those of its subfolders, down to `depth` levels. */
  list(
    path: string,
    { recursive, depth, user, ...options }: FileOptions & { recursive?: boolean; depth?: number } = {},
  ): Pages<FileEntry> {
    return new Pages(async (limit, cursor) => {
      const page = { limit: limit === 100 ? pageSize : limit, cursor: cursor ?? undefined };
      const query = { user, depth, recursive: flag(recursive), ...page };
      const answer = await this.#connection.call("readFile", { path: this.#at(path), query, ...options });
      if ("data" in answer) return answer;
      throw new NotBerthError("A page of a folder was expected.");
    });
  }

  /** The entry at a path, after following links. */
  async stat(path: string, { user, ...options }: FileOptions = {}): Promise<FileEntry> {
    const query = { user, stat: "true" as const };
    const answer: Answer<"readFile"> = await this.#connection.call("readFile", {
      path: this.#at(path),
      query,
      ...options,
    });
    if ("type" in answer) return answer;
    throw new NotBerthError("An entry was expected.");
  }

  /**
   * A file as a response, whose body is the bytes. A body that breaks off fails; read the rest with a `Range` header, and
   * the file's `etag` as `If-Range`.
   */
  read(path: string, { user, ...options }: FileOptions = {}): Promise<Response> {
    return this.#connection.request("readFile", { path: this.#at(path), query: { user }, ...options });
  }

  /** A file as text. */
  async readText(path: string, options: FileOptions = {}): Promise<string> {
    return (await this.read(path, options)).text();
  }

  /** Writes a file, with its folders. It is replaced in one step, when all of it has arrived. `mode` is octal: `755`. */
  write(
    path: string,
    bytes: Bytes,
    { mode, user, headers, ...options }: FileOptions & { mode?: string } = {},
  ): Promise<WrittenFile> {
    return this.#connection.upload("writeFile", bytes, {
      path: this.#at(path),
      query: { mode, user },
      headers: { "content-type": "application/octet-stream", ...headers },
      ...options,
    });
  }

  mkdir(path: string, { user, ...options }: FileOptions = {}): Promise<FileEntry> {
    return this.#connection.call("changeFile", { path: this.#at(path), query: { action: "mkdir", user }, ...options });
  }

  /** Moves a file or folder to a path where nothing is. */
  move(path: string, to: string, { user, ...options }: FileOptions = {}): Promise<FileEntry> {
    const query = { action: "move" as const, to, user };
    return this.#connection.call("changeFile", { path: this.#at(path), query, ...options });
  }

  /** Copies a file or folder to a path where nothing is. */
  copy(path: string, to: string, { user, ...options }: FileOptions = {}): Promise<FileEntry> {
    const query = { action: "copy" as const, to, user };
    return this.#connection.call("changeFile", { path: this.#at(path), query, ...options });
  }

  /** Removes a file or an empty folder; with `recursive`, also a folder with everything in it. */
  async remove(
    path: string,
    { recursive, user, ...options }: FileOptions & { recursive?: boolean } = {},
  ): Promise<void> {
    const query = { recursive: flag(recursive), user };
    await this.#connection.call("removeFile", { path: this.#at(path), query, ...options });
  }

  /** A folder as an archive, in the response's body. */
  archive(
    path: string,
    { format = "gzip", user, headers, ...options }: FileOptions & { format?: ArchiveFormat } = {},
  ): Promise<Response> {
    return this.#connection.request("readFile", {
      path: this.#at(path),
      query: { user },
      headers: { ...headers, accept: archiveTypes[format] },
      ...options,
    });
  }

  /**
   * The address that a browser downloads a file from, or a folder as an archive, without a key: good once, for 30 s. With
   * the agent's rights.
   */
  async downloadUrl(
    path: string,
    { archive, ...options }: RequestOptions & { archive?: "tar" | "tar.gz" | "zip" } = {},
  ): Promise<string> {
    const at = this.#at(path);
    const body = { for: "file" as const, path: at.path };
    const { ticket } = await this.#connection.call("createTicket", { path: { name: at.name }, body, ...options });
    return this.#connection.url + pathOf("/agents/{name}/files/{path}", at, { ticket, archive });
  }

  /** Unpacks a tar archive into a folder. */
  extract(
    path: string,
    archive: Bytes,
    { format = "gzip", user, headers, ...options }: FileOptions & { format?: "gzip" | "tar" } = {},
  ): Promise<WrittenFile> {
    return this.#connection.upload("writeFile", archive, {
      path: this.#at(path),
      query: { extract: "true", user },
      headers: { ...headers, "content-type": archiveTypes[format] },
      ...options,
    });
  }

  /** Changes in a folder or of a file, until its machine ends. A stream that breaks is not reopened: changes were missed. */
  watch(
    path: string,
    { recursive, user, ...options }: FileOptions & { recursive?: boolean } = {},
  ): AsyncGenerator<FileEvent> {
    return this.#connection.follow("readFile", {
      path: this.#at(path),
      query: { watch: "true", recursive: flag(recursive), user },
      isLast: () => false,
      delaysMs: [],
      ...options,
    });
  }

  /** The home folder has no name that an address could end with. */
  #at(path: string): { name: string; path: string } {
    return { name: this.#name, path: /^\.{0,2}$/.test(path) ? `${path || "."}/` : path };
  }
}

function flag(value: boolean | undefined): "true" | undefined {
  return value ? "true" : undefined;
}
