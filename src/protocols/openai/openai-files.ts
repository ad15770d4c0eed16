import type { Readable } from "node:stream";
import { BerthError } from "../../contract/errors.ts";
import { FileForm, fileId, fromFileId, maximumFileBytes } from "../../contract/openai-files.ts";
import { MediaType } from "../../contract/uploads.ts";
import { parseValue } from "../../contract/validation.ts";
import { Budget } from "../../core/budget.ts";
import type { GivenFile } from "../../uploads/content.ts";
import { safeName, typeByName } from "../../uploads/file-name.ts";
import type { BroughtFile } from "./attachments.ts";
import type { FileOwner, FilePage, FileState, OpenAiFileStore } from "./file-store.ts";

/** The largest form: a file, and its other fields. */
const maximumFormBytes = maximumFileBytes + 64 * 1024;
/** Forms in memory: of all accounts together, and of one. */
const memory = { total: 8 * maximumFormBytes, perHolder: 3 * maximumFormBytes };

const unknownType = "application/octet-stream";

/** Files of OpenAI's Files API. */
export class OpenAiFiles {
  readonly #rows: OpenAiFileStore;
  readonly #memory = new Budget(memory);

  constructor(rows: OpenAiFileStore) {
    this.#rows = rows;
  }

  /**
   * Stores the file of a form, or finds the one that an earlier attempt has stored. Throws `request_invalid`,
   * `content_type_unsupported`, `body_too_large`, `too_many_requests`, `uploads_full`.
   */
  async receive(id: string, owner: FileOwner, body: Readable, type: string | undefined): Promise<FileState> {
    using held = this.#memory.take(owner.accountId, maximumFormBytes);
    if (!held) throw new BerthError("too_many_requests", "Too many files arrive at the moment; try again.");
    const form = await formOf(body, type);
    const file = form.get("file");
    if (!(file instanceof File)) throw invalid("file", "file is required, as a part with a file name.");
    if (file.size === 0) throw invalid("file", "file: the file is empty; send at least one byte.");
    if (file.size > maximumFileBytes) throw tooLarge();
    const { purpose, "expires_after[seconds]": seconds } = parseValue(FileForm, Object.fromEntries(form));
    const name = safeName(file.name) ?? "file.bin";
    // Clients that do not know the type send this one.
    const said = file.type === unknownType ? undefined : MediaType.safeParse(file.type).data;
    const mediaType = said ?? typeByName(name);
    const expiresAt = new Date(Date.now() + seconds * 1000);
    await this.#rows.insert({ id, name, mediaType, purpose, size: file.size, expiresAt }, owner, file);
    return this.find(owner, fileId(id));
  }

  /** A file that the caller may use. Throws `file_not_found`. */
  async find(owner: FileOwner, clientId: string): Promise<FileState> {
    const id = fromFileId(clientId);
    const found = id === null ? null : await this.#rows.find(owner, id);
    if (!found) throw new BerthError("file_not_found", "There is no such file; it may have expired or been deleted.");
    return found;
  }

  list(owner: FileOwner, page: FilePage): Promise<FileState[]> {
    return this.#rows.list(owner, page);
  }

  bytes({ id }: FileState): AsyncGenerator<Buffer> {
    return this.#rows.bytes(id);
  }

  remove({ id }: FileState): Promise<void> {
    return this.#rows.remove(id);
  }

  /** The files of a message, with the stored ones that it names. Throws `file_not_found`, with the part. */
  async named(owner: FileOwner, files: readonly BroughtFile[]): Promise<GivenFile[]> {
    const given: GivenFile[] = [];
    for (const { source, ...file } of files) {
      if (Buffer.isBuffer(source)) {
        given.push({ ...file, source });
        continue;
      }
      const stored = await this.find(owner, source.fileId).catch((error: unknown) => {
        if (!(error instanceof BerthError)) throw error;
        const field = `${file.part}.file_id`;
        throw new BerthError(error.code, `${field}: ${error.message}`, {
          details: { issues: [{ field, message: error.message }] },
        });
      });
      const { name, mediaType, size } = stored;
      const bytes = () => this.bytes(stored);
      // An image's type is that of its bytes.
      const known = file.kind === "image" ? null : mediaType;
      given.push({ ...file, name: file.name ?? name, mediaType: known, source: { size, bytes } });
    }
    return given;
  }
}

/** The fields of a body in `multipart/form-data`. */
async function formOf(body: Readable, type: string | undefined): Promise<FormData> {
  if (!/^multipart\/form-data\b/i.test(type ?? "")) {
    throw new BerthError("content_type_unsupported", "The body's content type must be multipart/form-data.");
  }
  const form = new Response(ReadableStream.from(limited(body)), { headers: { "content-type": type! } });
  try {
    return await form.formData();
  } catch (cause) {
    if (cause instanceof BerthError) throw cause;
    throw new BerthError("request_invalid", "The body is not a complete form (multipart/form-data).", { cause });
  }
}

async function* limited(body: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maximumFormBytes) throw tooLarge();
    yield chunk;
  }
}

function tooLarge(): BerthError {
  return new BerthError(
    "body_too_large",
    `A file is limited to ${maximumFileBytes / 1024 ** 2} MiB. Send a larger one to POST /agents/{name}/uploads.`,
  );
}

function invalid(field: string, message: string): BerthError {
  return new BerthError("request_invalid", message, { details: { issues: [{ field, message }] } });
}
