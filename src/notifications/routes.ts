import type { FastifyPluginAsync } from "fastify";
import type { AppContext } from "../context.ts";
import { routes } from "../contract/routes.ts";
import { dashboardPrefix } from "../contract/sign-in.ts";
import { handle } from "../core/http/handle.ts";
import { fromCursor, pageOf } from "../core/http/paging.ts";
import { limitAddress } from "../core/http/rate-limits.ts";

/** `/me/profile` */
export function profileRoutes({ profiles }: AppContext): FastifyPluginAsync {
  return async (app) => {
    handle(app, routes.getProfile, ({ caller }) => profiles.view(caller));
    handle(app, routes.changeProfile, ({ caller, body }) => profiles.change(caller, body));
    handle(app, routes.verifyEmail, ({ caller, body }) => profiles.verifyEmail(caller, body.token));
    handle(app, routes.testNotifications, ({ caller }) => profiles.test(caller));
    handle(app, routes.listAgentNotify, async ({ caller, query: { limit, cursor } }) => {
      const page = await profiles.agents(caller, limit + 1, fromCursor(cursor, /^[a-z][a-z0-9-]{2,29}$/));
      return pageOf(page, limit, ({ agent }) => agent);
    });
    handle(app, routes.setAgentNotify, ({ caller, params, body }) =>
      profiles.setAgent(caller, params.name, body.notify),
    );
    handle(app, routes.deleteAgentNotify, async ({ caller, params }) => {
      await profiles.removeAgent(caller, params.name);
      return null;
    });
  };
}

/** `/unsubscribe`: the link of a mail, by which its receiver turns mail off without signing in (RFC 8058). */
export function unsubscribeRoutes(context: AppContext): FastifyPluginAsync {
  const { profiles } = context;
  return async (app) => {
    // A form, which says nothing more.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    // Programs that look for viruses open links: only a POST changes something.
    handle(app, routes.openUnsubscribe, async (request, reply) => {
      await limitAddress(context, request, reply);
      return reply.redirect(`${dashboardPrefix}/notifications`, 302);
    });
    handle(app, routes.unsubscribe, async (request, reply) => {
      await limitAddress(context, request, reply);
      await profiles.unsubscribe(request.params.token);
      return null;
    });
  };
}
