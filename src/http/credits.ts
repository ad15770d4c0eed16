import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { ListQuery } from "../contract/agents.ts";
import { AccountCreditsList, CreditGrant, GrantCredits } from "../contract/billing.ts";
import { uuidPattern } from "../contract/ids.ts";
import { type Billing, toAccountCredits, toEntryView } from "../service/billing.ts";
import { fromCredits } from "../service/credits.ts";
import { fromCursor, pageOf } from "./paging.ts";

/** `/admin/credits`: the credits of all accounts. For the operator. */
export function creditRoutes(billing: Billing): FastifyPluginAsyncZod {
  return async (app) => {
    const listSchema = {
      summary: "List all accounts with their credits",
      querystring: ListQuery,
      response: { 200: AccountCreditsList },
    };
    app.get("/admin/credits", { schema: listSchema }, async ({ query: { limit, cursor } }) => {
      const accounts = await billing.listAccounts(limit + 1, fromCursor(cursor, uuidPattern));
      return pageOf(accounts.map(toAccountCredits), limit, ({ accountId }) => accountId);
    });

    const grantSchema = {
      summary: "Give an account credits, or take some back",
      body: GrantCredits,
      response: { 201: CreditGrant },
    };
    app.post("/admin/credits/grants", { schema: grantSchema }, async ({ body, attempt }, reply) => {
      const { account: id, user, credits, note = null } = body;
      const to = id === undefined ? { user: user! } : { account: id };
      const granted = { micro: fromCredits(credits), note, reference: attempt.resourceId };
      const { account, entry } = await billing.grant(to, granted);
      reply.code(201);
      return { account: toAccountCredits(account), entry: toEntryView(entry) };
    });
  };
}
