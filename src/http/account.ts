import type { FastifyPluginAsync } from "fastify";
import { routes } from "../api/routes.ts";
import type { AccountRecord } from "../contract/sign-in.ts";
import type { Caller } from "../service/caller.ts";
import { handle } from "./handle.ts";

/** What the account's route needs. */
export interface AccountService {
  account(caller: Caller): Promise<AccountRecord>;
}

/** `/account`: who is asking. */
export function accountRoutes(service: AccountService): FastifyPluginAsync {
  return async (app) => {
    handle(app, routes.getAccount, async ({ caller }) => service.account(caller));
  };
}
