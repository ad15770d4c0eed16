import type { FastifyPluginAsync } from "fastify";
import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";
import { routes } from "../contract/routes.ts";
import { signInPrefix } from "../contract/sign-in.ts";
import { handle } from "../core/http/handle.ts";
import { limitAddress } from "../core/http/rate-limits.ts";
import { protectedResource } from "./open.ts";

/**
 * The built-in provider reads requests and writes responses itself. Every request counts against its address, because many
 * of them store something and none is authenticated.
 */
export function signInRoutes(context: AppContext): FastifyPluginAsync {
  return async (app) => {
    const { signIn } = context;
    if (signIn === null) return;
    app.addHook("onRequest", (request, reply) => limitAddress(context, request, reply));
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", (_request, _payload, done) => done(null));
    app.route({
      method: ["GET", "POST", "OPTIONS"],
      url: `${signInPrefix}/*`,
      schema: { hide: true },
      handler: async (request, reply) => {
        reply.hijack();
        for (const name of ["x-request-id", "ratelimit-policy", "ratelimit"]) {
          const value = reply.getHeader(name);
          if (value !== undefined) reply.raw.setHeader(name, value);
        }
        await signIn.handle(request.raw, reply.raw, request.ip);
      },
    });
  };
}

/** Tells clients where to get a token, for the API and for `/mcp`. */
export function protectedResourceRoutes(context: AppContext): FastifyPluginAsync {
  return async (app) => {
    handle(app, routes.getProtectedResource, async () => protectedResource(context));
    handle(app, routes.getMcpResource, async () => protectedResource(context, "/mcp"));
  };
}

/** The built-in provider's metadata, at the paths that RFC 8414 derives from its address. */
export function providerMetadataRoutes(context: AppContext): FastifyPluginAsync {
  const { signIn } = context;
  return async (app) => {
    app.addHook("onRequest", (request, reply) => limitAddress(context, request, reply));
    for (const route of [routes.getAuthorizationServer, routes.getOpenidProvider]) {
      handle(app, route, async (request, reply) => {
        if (!signIn) throw new BerthError("path_not_found", "Another identity provider is configured here.");
        reply.hijack();
        request.raw.url = `${signInPrefix}/.well-known/openid-configuration`;
        await signIn.handle(request.raw, reply.raw, request.ip);
        return reply;
      });
    }
  };
}
