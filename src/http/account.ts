import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { AccountRecord } from "../contract/sign-in.ts";
import type { Principals } from "../service/principals.ts";

/** `/account`: who is asking. */
export function accountRoutes(principals: Principals): FastifyPluginAsyncZod {
  return async (app) => {
    const schema = { summary: "Show the account that is asking", response: { 200: AccountRecord } };
    app.get("/account", { schema }, async ({ caller }) => principals.account(caller));
  };
}
