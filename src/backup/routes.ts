import type { FastifyPluginAsync } from "fastify";
import { routes } from "../api/routes.ts";
import { handle } from "../core/http/handle.ts";
import type { Backups } from "./backups.ts";

/** `/admin/backups`: the whole installation as an archive. */
export function backupRoutes(backups: Backups): FastifyPluginAsync {
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
