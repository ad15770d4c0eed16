import type { FastifyPluginAsync } from "fastify";
import { routes } from "../api/routes.ts";
import { uuidPattern } from "../contract/ids.ts";
import { type AccountState, type EntryState, toAccountCredits, toEntryView } from "../service/billing.ts";
import { fromCredits } from "../service/credits.ts";
import { handle } from "./handle.ts";
import { fromCursor, pageOf } from "./paging.ts";

/** What the routes of all accounts' credits need. */
export interface CreditService {
  /** The oldest first, beginning after the account `after`. */
  listCredits(limit: number, after: string | null): Promise<AccountState[]>;
  /**
   * Gives micro-credits to an account, or takes them back: once, for one `reference`. Throws `account_not_found`,
   * `user_not_found`, `users_managed_elsewhere`, `request_invalid`.
   */
  grantCredits(
    to: { account: string } | { user: string },
    grant: { micro: number; note: string | null; reference: string },
  ): Promise<{ account: AccountState; entry: EntryState }>;
}

/** `/admin/credits`: the credits of all accounts. For the operator. */
export function creditRoutes(service: CreditService): FastifyPluginAsync {
  return async (app) => {
    handle(app, routes.listCredits, async ({ query: { limit, cursor } }) => {
      const accounts = await service.listCredits(limit + 1, fromCursor(cursor, uuidPattern));
      return pageOf(accounts.map(toAccountCredits), limit, ({ accountId }) => accountId);
    });

    handle(app, routes.grantCredits, async ({ body, attempt }) => {
      const { account: id, user, credits, note = null } = body;
      const to = id === undefined ? { user: user! } : { account: id };
      const granted = { micro: fromCredits(credits), note, reference: attempt.resourceId };
      const { account, entry } = await service.grantCredits(to, granted);
      return { account: toAccountCredits(account), entry: toEntryView(entry) };
    });
  };
}
