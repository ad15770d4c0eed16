import { createHash, randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import type { AgentState } from "../agents/agent.ts";
import type { Author } from "../contract/authors.ts";
import { BerthError } from "../contract/errors.ts";
import { isUuid } from "../contract/ids.ts";
import { type Attachment, maximumUploadBytes, type Upload } from "../contract/uploads.ts";
import { type Caller, mayUseTurn } from "../core/http/caller.ts";
import type { GivenFile, StoredFile } from "./content.ts";
import { safeName, typeByName, usualName } from "./file-name.ts";
import { checkImage, maximumImageBytes } from "./images.ts";
import { noUpload, type UploadStore } from "./store.ts";

/** A complete upload. */
export interface UploadState {
  id: string;
  agentId: string;
  keyId: string | null;
  name: string;
  mediaType: string;
  /** In bytes. */
  size: number;
  /** In hexadecimal. */
  sha256: string;
  createdBy: Author | null;
  createdAt: Date;
  expiresAt: Date;
}

type Uploader = Pick<Caller, "accountId" | "agentIds" | "keyId" | "personId">;

/** How many bytes are stored at once. */
const chunkBytes = 1024 * 1024;

/** Images and files for messages: the uploads of agents. */
export class Uploads {
  readonly #rows: UploadStore;

  constructor(rows: UploadStore) {
    this.#rows = rows;
  }

  /**
   * Stores a file as it arrives. Throws `body_too_large`, `uploads_full`, and `request_invalid` for an empty file and for one
   * that breaks off, and keeps nothing then.
   */
  async receive(
    id: string,
    agent: AgentState,
    caller: Uploader,
    file: { name: string; mediaType: string | null },
    bytes: AsyncIterable<Buffer>,
  ): Promise<UploadState> {
    const name = safeName(file.name) ?? "file.bin";
    await this.#rows.begin(id, agent.id, caller, { name, mediaType: file.mediaType ?? typeByName(name) });
    try {
      const hash = createHash("sha256");
      let [size, number] = [0, 0];
      for await (const chunk of chunksOf(bytes)) {
        size += chunk.length;
        if (size > maximumUploadBytes) throw tooLarge();
        hash.update(chunk);
        await this.#rows.add(id, agent.accountId, number++, chunk);
      }
      if (size === 0) throw new BerthError("request_invalid", "The file is empty; send at least one byte.");
      return await this.#rows.complete(id, hash.digest());
    } catch (error) {
      await this.#rows.remove(id).catch(() => {}); // It expires.
      if (error instanceof BerthError || !isBrokenOff(error)) throw error;
      throw new BerthError("request_invalid", "The upload broke off; nothing was stored.");
    }
  }

  /**
   * The upload that an earlier attempt of a request has stored; null if there is none. Removes the rest of one that did not
   * end.
   */
  async received(agent: AgentState, id: string): Promise<UploadState | null> {
    const found = await this.#rows.find(agent.id, id);
    if (!found) await this.#rows.remove(id);
    return found;
  }

  list({ id }: AgentState, limit: number, after: string | null): Promise<UploadState[]> {
    return this.#rows.list(id, limit, after);
  }

  /** An upload of the agent that the caller may use. Throws `upload_not_found`. */
  async find({ id: agentId }: AgentState, caller: Uploader, id: string): Promise<UploadState> {
    const found = isUuid(id) ? await this.#rows.find(agentId, id) : null;
    if (!found || !mayUseTurn(caller, found)) throw noUpload(isUuid(id) ? id : "with this id");
    return found;
  }

  bytes({ id }: Pick<UploadState, "id">): AsyncGenerator<Buffer> {
    return this.#rows.bytes(id);
  }

  /** Throws `upload_in_use`. */
  async remove({ id }: UploadState): Promise<void> {
    if (await this.#rows.remove(id)) return;
    throw new BerthError(
      "upload_in_use",
      "A waiting or running turn uses the upload. Cancel the turn, or wait for its end.",
    );
  }

  /**
   * Checks the images and files of a message, and stores those that are in the request. Throws `request_invalid`,
   * `upload_not_found`, `uploads_full`, and keeps nothing then.
   */
  async attach(agent: AgentState, caller: Uploader, files: readonly GivenFile[]): Promise<Attachment[]> {
    const attachments: Attachment[] = [];
    try {
      for (const file of files) {
        const number = attachments.length + 1;
        attachments.push(
          "uploadId" in file.source
            ? await this.#uploaded(agent, caller, file, file.source.uploadId)
            : await this.#store(agent, caller, file, file.source, number),
        );
      }
      return attachments;
    } catch (error) {
      await this.detach(files, attachments);
      throw error;
    }
  }

  /** Removes the files that `attach` has stored, for a message that was refused. */
  async detach(files: readonly GivenFile[], attachments: readonly Attachment[]): Promise<void> {
    for (const [index, { id }] of attachments.entries()) {
      if (!("uploadId" in files[index]!.source)) await this.#rows.remove(id).catch(() => {}); // It expires.
    }
  }

  async #store(agent: AgentState, caller: Uploader, file: GivenFile, source: Buffer | StoredFile, number: number) {
    const { kind, part, mediaType: said } = file;
    const given = file.name === null ? null : safeName(file.name);
    if (kind === "image") requireImageSize(Buffer.isBuffer(source) ? source.length : source.size, part);
    const parts = Buffer.isBuffer(source) ? [source] : kind === "image" ? await Array.fromAsync(source.bytes()) : null;
    const mediaType =
      kind === "image"
        ? checkImage(Buffer.concat(parts!), said, part)
        : (said ?? typeByName(given ?? "")).toLowerCase();
    const name = given ?? usualName(kind, mediaType, number);
    const { id, size } = await this.receive(
      randomUUID(),
      agent,
      caller,
      { name, mediaType },
      Readable.from(parts ?? (source as StoredFile).bytes()),
    );
    return { id, kind, name, mediaType, size };
  }

  async #uploaded(agent: AgentState, caller: Uploader, file: GivenFile, uploadId: string): Promise<Attachment> {
    const { kind, part, mediaType: said } = file;
    const upload = await this.find(agent, caller, uploadId).catch((error: unknown) => {
      if (!(error instanceof BerthError)) throw error;
      throw new BerthError(error.code, `${part}.fileId: ${error.message}`);
    });
    const { id, size } = upload;
    const name = (file.name === null ? null : safeName(file.name)) ?? upload.name;
    if (kind === "file") return { id, kind, name, size, mediaType: (said ?? upload.mediaType).toLowerCase() };
    requireImageSize(size, part);
    const bytes = Buffer.concat(await Array.fromAsync(this.bytes(upload)));
    return { id, kind, name, size, mediaType: checkImage(bytes, said, part) };
  }
}

export function toUploadView({ agentId: _, keyId: __, createdAt, expiresAt, ...upload }: UploadState): Upload {
  return { ...upload, createdAt: createdAt.toISOString(), expiresAt: expiresAt.toISOString() };
}

/** Throws `request_invalid`. */
function requireImageSize(size: number, part: string): void {
  if (size <= maximumImageBytes) return;
  const limit = `An image is limited to ${maximumImageBytes / 1024 ** 2} MiB; send a larger one as type file.`;
  throw new BerthError("request_invalid", `${part}: the image has ${size} bytes. ${limit}`);
}

/** The bytes in parts that are stored at once. */
async function* chunksOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let gathered: Buffer[] = [];
  let size = 0;
  for await (const chunk of bytes) {
    for (let rest = chunk; rest.length > 0; ) {
      const next = rest.subarray(0, chunkBytes - size);
      rest = rest.subarray(next.length);
      gathered.push(next);
      size += next.length;
      if (size < chunkBytes) continue;
      yield Buffer.concat(gathered);
      [gathered, size] = [[], 0];
    }
  }
  if (size > 0) yield Buffer.concat(gathered);
}

function tooLarge(): BerthError {
  return new BerthError("body_too_large", `An upload is limited to ${maximumUploadBytes / 1024 ** 2} MiB.`);
}

/** Whether the client closed the connection before the end of the body. */
function isBrokenOff(error: unknown): boolean {
  return (
    error instanceof Error && "code" in error && /^(ECONNRESET|ERR_STREAM_PREMATURE_CLOSE)$/.test(String(error.code))
  );
}
