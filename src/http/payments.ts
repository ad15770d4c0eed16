import type { FastifyReply, FastifyRequest } from "fastify";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { BerthError } from "../contract/errors.ts";
import { CreateTopUp, TopUp } from "../contract/payments.ts";
import type { Billing } from "../service/billing.ts";

/** `/billing/top-ups`: credits by card. */
export function topUpRoutes(billing: Billing): FastifyPluginAsyncZod {
  return async (app) => {
    const schema = {
      summary: "Buy credits",
      description: "Answers the address of a page on which to pay; the credits are there when that is done.",
      body: CreateTopUp,
      response: { 201: TopUp },
    };
    app.post("/billing/top-ups", { schema }, async (request, reply) => {
      const { resourceId } = request.attempt;
      reply.code(201);
      return billing.beginTopUp(resourceId, request.caller.accountId, request.body);
    });
  };
}

/**
 * Where the payments' provider sends its events: not with a key of ours, but signed. `limitAddress` counts those that
 * are not.
 */
export function paymentEventRoutes(
  billing: Billing,
  limitAddress: (request: FastifyRequest, reply: FastifyReply) => Promise<void>,
): FastifyPluginAsyncZod {
  return async (app) => {
    // What is signed is the body as it was sent.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    const schema = { hide: true, response: { 204: z.null() } };
    app.post("/webhooks/stripe", { schema }, async (request, reply) => {
      const { "stripe-signature": signature } = request.headers;
      try {
        if (typeof signature !== "string" || !Buffer.isBuffer(request.body)) {
          throw new BerthError("request_invalid", "An event with the header stripe-signature is needed.");
        }
        await billing.receivePayment(request.body, signature);
      } catch (error) {
        if (error instanceof BerthError && error.status === 400) await limitAddress(request, reply);
        throw error;
      }
      return reply.code(204).send(null);
    });
  };
}
