import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyPluginAsync, onRequestAsyncHookHandler } from "fastify";
import { routes } from "../api/routes.ts";
import { BerthError } from "../contract/errors.ts";
import { type ProtectedResource, signInPrefix } from "../contract/sign-in.ts";
import { handle } from "../core/http/handle.ts";

/** Answers a request to the built-in identity provider; `address` is the client's. */
export type HandleSignIn = (request: IncomingMessage, response: ServerResponse, address: string) => void;

/**
 * The provider reads requests and writes responses itself. `limitAddress` counts every request, because many of them
 * store something and none is authenticated.
 */
export function signInRoutes(answer: HandleSignIn, limitAddress: onRequestAsyncHookHandler): FastifyPluginAsync {
  return async (app) => {
    app.addHook("onRequest", limitAddress);
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", (_request, _payload, done) => done(null));
    app.route({
      method: ["GET", "POST", "OPTIONS"],
      url: `${signInPrefix}/*`,
      schema: { hide: true },
      handler: (request, reply) => {
        reply.hijack();
        for (const name of ["x-request-id", "ratelimit-policy", "ratelimit"]) {
          const value = reply.getHeader(name);
          if (value !== undefined) reply.raw.setHeader(name, value);
        }
        answer(request.raw, reply.raw, request.ip);
      },
    });
  };
}

/** Tells clients where to get a token, for the API and for `/mcp`. */
export function protectedResourceRoutes(
  protectedResource: (path: "" | "/mcp") => ProtectedResource,
): FastifyPluginAsync {
  return async (app) => {
    handle(app, routes.getProtectedResource, async () => protectedResource(""));
    handle(app, routes.getMcpResource, async () => protectedResource("/mcp"));
  };
}

/**
 * The built-in provider's metadata at the places that its address has by RFC 8414. Null: the provider is another, and tells
 * of itself.
 */
export function providerMetadataRoutes(
  answer: HandleSignIn | null,
  limitAddress: onRequestAsyncHookHandler,
): FastifyPluginAsync {
  return async (app) => {
    app.addHook("onRequest", limitAddress);
    for (const route of [routes.getAuthorizationServer, routes.getOpenidProvider]) {
      handle(app, route, async (request, reply) => {
        if (!answer) throw new BerthError("path_not_found", "Another identity provider is configured here.");
        reply.hijack();
        request.raw.url = `${signInPrefix}/.well-known/openid-configuration`;
        answer(request.raw, reply.raw, request.ip);
        return reply;
      });
    }
  };
}
