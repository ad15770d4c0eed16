import type { Readable } from "node:stream";
import type { FastifyPluginAsync } from "fastify";
import { findAgent } from "../agents/find.ts";
import type { AppContext } from "../context.ts";
import { routes } from "../contract/routes.ts";
import { goneOf } from "../core/http/gone.ts";
import { handle } from "../core/http/handle.ts";
import { sendHead } from "../files/routes.ts";

/** `/agents/{name}/export` and `/imports`. */
export function archiveRoutes(context: AppContext): FastifyPluginAsync {
  const { agents, exports, imports, streams } = context;
  return async (app) => {
    handle(app, routes.exportAgent, async (request, reply) => {
      const agent = await findAgent(agents, request, request.params.name);
      reply.type("application/x-tar").header("cache-control", "private, no-store");
      reply.header("content-disposition", `attachment; filename="${agent.name}.berth"`);
      // Headers alone need no archive.
      if (request.method === "HEAD") return sendHead(reply);
      const entered = streams.enter(request);
      try {
        const archive = await exports.open(agent, request.caller, {
          disk: request.query.disk === "true",
          gone: goneOf(reply),
        });
        archive.once("close", () => entered[Symbol.dispose]());
        return reply.send(archive);
      } catch (error) {
        entered[Symbol.dispose]();
        throw error;
      }
    });

    await app.register(async (bytes) => {
      bytes.removeAllContentTypeParsers();
      bytes.addContentTypeParser("*", (_request, body, done) => done(null, body));
      handle(bytes, routes.importAgent, async (request, reply) => {
        using _ = streams.enter(request);
        // Without a content type, there may be no body stream.
        const body = (request.body ?? request.raw) as Readable;
        try {
          const { caller, query, attempt } = request;
          const agent = await imports.create(caller, query, body, attempt, goneOf(reply));
          request.agent = agent;
          reply.header("location", `/agents/${agent.name}`);
          const latest = request.query.wait ? await agents.settled(agent) : agent;
          return { agent: agents.view(latest, caller), ...(await imports.detail(agent)) };
        } finally {
          // A sender that is still sending gets its response when everything has arrived.
          body.resume();
        }
      });
    });
  };
}
