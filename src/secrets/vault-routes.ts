import type { FastifyPluginAsync } from "fastify";
import type { AppContext } from "../context.ts";
import { routes } from "../contract/routes.ts";
import { handle } from "../core/http/handle.ts";
import { toWorkspaceSecretView } from "./vault.ts";

/** `/secrets`: secrets of the workspace. */
export function vaultRoutes({ vault }: AppContext): FastifyPluginAsync {
  return async (app) => {
    handle(app, routes.listWorkspaceSecrets, async ({ caller }) => ({
      data: (await vault.list(caller)).map(toWorkspaceSecretView),
      nextCursor: null,
    }));

    handle(app, routes.getWorkspaceSecret, async ({ caller, params }) =>
      toWorkspaceSecretView(await vault.find(caller, params.secret)),
    );

    handle(app, routes.setWorkspaceSecret, async ({ caller, params, body }, reply) => {
      const { secret, made } = await vault.set(caller, params.secret, body);
      return reply.code(made ? 201 : 200).send(toWorkspaceSecretView(secret));
    });

    handle(app, routes.removeWorkspaceSecret, async ({ caller, params }) => {
      await vault.remove(caller.accountId, params.secret);
      return null;
    });
  };
}
