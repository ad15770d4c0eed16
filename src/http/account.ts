import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { AccountRecord } from "../contract/sign-in.ts";
import type { Caller } from "../service/caller.ts";

/** What the account's route needs. */
export interface AccountService {
  account(caller: Caller): Promise<AccountRecord>;
}

/** `/account`: who is asking. */
export function accountRoutes(service: AccountService): FastifyPluginAsyncZod {
  return async (app) => {
    const schema = { summary: "Show the account that is asking", response: { 200: AccountRecord } };
    app.get("/account", { schema }, async ({ caller }) => service.account(caller));
  };
}
