import { Billing, ChangeBilling, CreditEntryList, EntriesQuery, UsageQuery, UsageReport } from "../billing.ts";
import { CreateTopUp, TopUp } from "../payments.ts";
import { managing, route, using } from "../route.ts";

/** The account's credits, usage and entries. */
export const billingRoutes = {
  getBilling: route({
    method: "GET",
    path: "/billing",
    summary: "Read the account's credits and usage",
    responses: { 200: Billing },
    permission: using,
  }),
  changeBilling: route({
    method: "PATCH",
    path: "/billing",
    summary: "Set the monthly spending limit and the balance that is reported",
    body: ChangeBilling,
    responses: { 200: Billing },
    permission: managing,
  }),
  listEntries: route({
    method: "GET",
    path: "/billing/entries",
    summary: "Read the ledger: every change of the balance with its cause, newest first",
    query: EntriesQuery,
    responses: { 200: CreditEntryList },
    permission: using,
    csv: true,
  }),
  getUsage: route({
    method: "GET",
    path: "/billing/usage",
    summary: "Summarize usage by day, agent, model or key",
    query: UsageQuery,
    responses: { 200: UsageReport },
    permission: using,
    csv: true,
  }),
  createTopUp: route({
    method: "POST",
    path: "/billing/top-ups",
    summary: "Buy credits",
    description: "Returns the address of a payment page; the credits are added after payment.",
    body: CreateTopUp,
    responses: { 201: TopUp },
    permission: managing,
  }),
};
