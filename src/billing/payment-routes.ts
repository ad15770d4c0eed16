import type { FastifyPluginAsync } from "fastify";
import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";
import { routes } from "../contract/routes.ts";
import { handle } from "../core/http/handle.ts";
import { limitAddress } from "../core/http/rate-limits.ts";

/** `/billing/top-ups`: credits by card. */
export function topUpRoutes(context: AppContext): FastifyPluginAsync {
  const { billing } = context;
  return async (app) => {
    handle(app, routes.createTopUp, async (request) => {
      const { resourceId } = request.attempt;
      return billing.beginTopUp(resourceId, request.caller.accountId, request.body);
    });
  };
}

/**
 * Receives the payment provider's events, which are signed and have no API key. `limitAddress` counts those with an
 * invalid signature.
 */
export function paymentEventRoutes(context: AppContext): FastifyPluginAsync {
  const { billing } = context;
  return async (app) => {
    // The signature covers the raw body.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    handle(app, routes.receivePayment, async (request, reply) => {
      const { "stripe-signature": signature } = request.headers;
      try {
        if (typeof signature !== "string" || !Buffer.isBuffer(request.body)) {
          throw new BerthError("request_invalid", "The stripe-signature header is missing.");
        }
        await billing.receivePayment(request.body, signature);
      } catch (error) {
        if (error instanceof BerthError && error.status === 400) await limitAddress(context, request, reply);
        throw error;
      }
      return null;
    });
  };
}
