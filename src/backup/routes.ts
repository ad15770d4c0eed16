import type { FastifyPluginAsync } from "fastify";
import type { AppContext } from "../context.ts";
import { routes } from "../contract/routes.ts";
import { handle } from "../core/http/handle.ts";

export function backupRoutes(context: AppContext): FastifyPluginAsync {
  const { backups } = context;
  return async (app) => {
    handle(app, routes.createBackup, async (request) => backups.make(request.attempt.resourceId));

    handle(app, routes.readBackup, async (request, reply) => {
      const bytes = backups.read(request.params.id);
      reply.header("cache-control", "no-store").header("content-type", "application/x-tar");
      return reply.send(bytes);
    });

    handle(app, routes.removeBackup, async (request) => {
      await backups.remove(request.params.id);
      return null;
    });
  };
}
