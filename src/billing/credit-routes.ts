import type { FastifyPluginAsync } from "fastify";
import type { AppContext } from "../context.ts";
import { uuidPattern } from "../contract/ids.ts";
import { routes } from "../contract/routes.ts";
import { handle } from "../core/http/handle.ts";
import { fromCursor, pageOf } from "../core/http/paging.ts";
import { toAccountCredits, toEntryView } from "./billing.ts";
import { fromCredits } from "./credits.ts";

/** `/admin/credits`: the credits of all accounts, for the operator. */
export function creditRoutes(context: AppContext): FastifyPluginAsync {
  const { billing } = context;
  return async (app) => {
    handle(app, routes.listCredits, async ({ query: { limit, cursor } }) => {
      const accounts = await billing.listAccounts(limit + 1, fromCursor(cursor, uuidPattern));
      return pageOf(accounts.map(toAccountCredits), limit, ({ accountId }) => accountId);
    });

    handle(app, routes.grantCredits, async ({ body, attempt }) => {
      const { account: id, user, credits, note = null } = body;
      const to = id === undefined ? { user: user! } : { account: id };
      const granted = { micro: fromCredits(credits), note, reference: attempt.resourceId };
      const { account, entry } = await billing.grant(to, granted);
      return { account: toAccountCredits(account), entry: toEntryView(entry) };
    });
  };
}
