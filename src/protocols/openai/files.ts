import { Readable } from "node:stream";
import type { FastifyPluginAsync } from "fastify";
import type { AppContext } from "../../context.ts";
import { BerthError } from "../../contract/errors.ts";
import { fileId, fromFileId, type OpenAiFile } from "../../contract/openai-files.ts";
import { routes } from "../../contract/routes.ts";
import { imageTypes } from "../../contract/uploads.ts";
import { attachmentNamed } from "../../core/http/content-disposition.ts";
import { handle } from "../../core/http/handle.ts";
import type { FileState } from "./file-store.ts";

/** `/v1/files`: files that messages of OpenAI's APIs name by their id. */
export function openAiFileRoutes(context: AppContext): FastifyPluginAsync {
  const { openAiFiles: files, streams } = context;
  return async (app) => {
    handle(app, routes.listOpenAiFiles, async ({ caller, query }) => {
      const { purpose = null, limit, order } = query;
      const after = query.after === undefined ? null : fromFileId(query.after);
      if (query.after !== undefined && after === null)
        throw new BerthError("request_invalid", "after: there is no file with this id.");
      const found = await files.list(caller, { purpose, limit: limit + 1, order, after });
      const data = found.slice(0, limit).map(view);
      const [first, last] = [data[0]?.id ?? null, data.at(-1)?.id ?? null];
      return { object: "list" as const, data, first_id: first, last_id: last, has_more: found.length > limit };
    });

    handle(app, routes.getOpenAiFile, async ({ caller, params }) => view(await files.find(caller, params.fileId)));

    handle(app, routes.readOpenAiFile, async (request, reply) => {
      const file = await files.find(request.caller, request.params.fileId);
      const entered = streams.enter(request);
      const bytes = Readable.from(files.bytes(file), { objectMode: false });
      bytes.once("close", () => entered[Symbol.dispose]());
      // The type is the sender's word: only that of an image is passed on, which browsers do not run.
      const isImage = (imageTypes as readonly string[]).includes(file.mediaType);
      return reply
        .header("content-type", isImage ? file.mediaType : "application/octet-stream")
        .header("content-disposition", attachmentNamed(file.name))
        .header("content-length", file.size)
        .header("cache-control", "private, no-store")
        .send(bytes);
    });

    handle(app, routes.deleteOpenAiFile, async ({ caller, params }) => {
      const file = await files.find(caller, params.fileId);
      await files.remove(file);
      return { id: fileId(file.id), object: "file", deleted: true } as const;
    });

    await app.register(async (forms) => {
      forms.removeAllContentTypeParsers();
      forms.addContentTypeParser("*", (_request, body, done) => done(null, body));
      handle(forms, routes.createOpenAiFile, async (request, reply) => {
        using _ = streams.enter(request);
        // Without a content type, there may be no body stream.
        const body = (request.body ?? request.raw) as Readable;
        const { attempt, caller, headers } = request;
        try {
          return view(await files.receive(attempt.resourceId, caller, body, headers["content-type"]));
        } catch (error) {
          // The rest of the body would be read otherwise.
          if (error instanceof BerthError && error.code === "body_too_large") reply.header("connection", "close");
          throw error;
        }
      });
    });
  };
}

function view({ id, name, purpose, size, createdAt, expiresAt }: FileState): OpenAiFile {
  return {
    id: fileId(id),
    object: "file",
    bytes: size,
    created_at: secondsOf(createdAt),
    expires_at: secondsOf(expiresAt),
    filename: name,
    purpose,
    status: "processed",
  };
}

function secondsOf(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}
