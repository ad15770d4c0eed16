import type { FastifyPluginAsync } from "fastify";
import type { AppContext } from "../context.ts";
import { routes } from "../contract/routes.ts";
import { allows } from "../contract/workspaces.ts";
import type { Caller } from "../core/http/caller.ts";
import { handle } from "../core/http/handle.ts";
import type { ReachableProvider } from "./directory.ts";
import { toProviderView } from "./provider.ts";

/** `/providers` */
export function providerRoutes({ providerAccounts, providers, models }: AppContext): FastifyPluginAsync {
  const viewFor = ({ operator, role }: Caller, provider: ReachableProvider) => {
    const { accountId, ownerId } = provider.state;
    // A person's own is shown to that person alone.
    const full = ownerId !== null || (accountId === null ? operator : allows(role, "manage"));
    return toProviderView(provider.state, models.runtimesFor(provider), full);
  };
  return async (app) => {
    handle(app, routes.listProviders, async ({ caller }) => {
      const reachable = await providers.reachable(caller);
      return { data: reachable.map((provider) => viewFor(caller, provider)), nextCursor: null };
    });

    handle(app, routes.createProvider, async ({ caller, body, attempt }, reply) => {
      const provider = await providerAccounts.create(caller, body, attempt);
      reply.header("location", `/providers/${provider.state.name}`);
      return viewFor(caller, provider);
    });

    handle(app, routes.changeProvider, async ({ caller, params, query, body }) =>
      viewFor(caller, await providerAccounts.change(caller, params.name, query.scope, body)),
    );

    handle(app, routes.deleteProvider, async ({ caller, params, query }) => {
      await providerAccounts.remove(caller, params.name, query.scope);
      return null;
    });

    handle(app, routes.startProviderLogin, async ({ caller, params, query }) =>
      viewFor(caller, await providerAccounts.login(caller, params.name, query.scope)),
    );

    handle(app, routes.testProvider, async ({ caller, params, query, body }) =>
      providerAccounts.test(caller, params.name, query.scope, body.model),
    );
  };
}
