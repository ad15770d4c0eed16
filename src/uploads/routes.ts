import { Readable } from "node:stream";
import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { findAgent } from "../agents/find.ts";
import type { AppContext } from "../context.ts";
import { routes } from "../contract/routes.ts";
import { imageTypes } from "../contract/uploads.ts";
import { attachmentNamed } from "../core/http/content-disposition.ts";
import { handle } from "../core/http/handle.ts";
import { fromCursor, pageOf, timedKey, timedPattern } from "../core/http/paging.ts";
import { toUploadView } from "./uploads.ts";

/** `/agents/{name}/uploads`: images and files for messages. */
export function uploadRoutes(context: AppContext): FastifyPluginAsync {
  const { agents, uploads, streams } = context;
  return async (app) => {
    handle(app, routes.listUploads, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      const { limit, cursor } = request.query;
      const page = await uploads.list(agent, limit + 1, fromCursor(cursor, timedPattern));
      return pageOf(page.map(toUploadView), limit, timedKey);
    });

    handle(app, routes.getUpload, async (request) => shown(request, await find(request)));

    handle(app, routes.readUpload, async (request, reply) => {
      const upload = await find(request);
      const entered = streams.enter(request);
      const bytes = Readable.from(uploads.bytes(upload), { objectMode: false });
      bytes.once("close", () => entered[Symbol.dispose]());
      // The type is the sender's word: only that of an image is passed on, which browsers do not run.
      const isImage = (imageTypes as readonly string[]).includes(upload.mediaType);
      return reply
        .header("content-type", isImage ? upload.mediaType : "application/octet-stream")
        .header("content-disposition", attachmentNamed(upload.name))
        .header("content-length", upload.size)
        .header("cache-control", "private, no-store")
        .send(bytes);
    });

    handle(app, routes.removeUpload, async (request) => {
      await uploads.remove(await find(request));
      return null;
    });

    await app.register(async (bytes) => {
      bytes.removeAllContentTypeParsers();
      bytes.addContentTypeParser("*", (_request, body, done) => done(null, body));
      handle(bytes, routes.createUpload, async (request) => {
        const agent = await findAgent(agents, request, request.params.name);
        using _ = streams.enter(request);
        const { name, mediaType = null } = request.query;
        // Without a content type, there may be no body stream.
        const body = (request.body ?? request.raw) as Readable;
        const { caller, attempt } = request;
        const earlier = attempt.earlier === "none" ? null : await uploads.received(agent, attempt.resourceId);
        const file = { name, mediaType };
        return shown(request, earlier ?? (await uploads.receive(attempt.resourceId, agent, caller, file, body)));
      });
    });
  };

  async function find(request: FastifyRequest & { params: { name: string; uploadId: string } }) {
    const agent = await findAgent(agents, request, request.params.name);
    return uploads.find(agent, request.caller, request.params.uploadId);
  }
}

/** The holder of an external key learns nothing of people and keys. */
function shown({ caller }: FastifyRequest, upload: Parameters<typeof toUploadView>[0]) {
  const view = toUploadView(upload);
  return caller.agentIds === null ? view : { ...view, createdBy: null };
}
