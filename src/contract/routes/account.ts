import { z } from "zod";
import { AccountEvent, AccountEventsQuery } from "../account-events.ts";
import { ListQuery } from "../agents.ts";
import { AuditList, AuditQuery } from "../audit.ts";
import { CreatedKey, CreateKey, KeyList, KeyParams } from "../keys.ts";
import { ProgramList, ProgramParams } from "../programs.ts";
import { account, route } from "../route.ts";
import { AccountRecord } from "../sign-in.ts";

/** The caller's account, its programs, its events, its keys and its audit log. */
export const accountRoutes = {
  getAccount: route({
    method: "GET",
    path: "/account",
    summary: "Show the account that is asking",
    responses: { 200: AccountRecord },
    permission: account,
  }),
  listPrograms: route({
    method: "GET",
    path: "/account/programs",
    summary: "List the programs of others that are signed in",
    description: "Assistants and editors that the account's user has allowed to act at `/mcp`.",
    responses: { 200: ProgramList },
    permission: account,
  }),
  endProgram: route({
    method: "DELETE",
    path: "/account/programs/{id}",
    summary: "End a program's sign-ins, at once",
    description: "Its tokens are refused from now on. It may ask the user again.",
    params: ProgramParams,
    responses: { 204: z.null() },
    permission: account,
  }),
  getEvents: route({
    method: "GET",
    path: "/events",
    summary: "Follow what happens in the account",
    description:
      "Agents, turns, credits, refused connections and keys, as an event stream without end. Open it first, then list: it begins with `events.opened`, and all that happens after it follows. Events are kept for seven days.",
    query: AccountEventsQuery,
    responses: {},
    permission: account,
    stream: AccountEvent,
  }),
  listKeys: route({
    method: "GET",
    path: "/keys",
    summary: "List the keys",
    query: ListQuery,
    responses: { 200: KeyList },
    permission: account,
  }),
  createKey: route({
    method: "POST",
    path: "/keys",
    summary: "Create a key",
    description: "The answer holds the key itself, this once. A key can make none that can do more than itself.",
    body: CreateKey,
    responses: { 201: CreatedKey },
    permission: account,
    limit: "keys",
  }),
  revokeKey: route({
    method: "DELETE",
    path: "/keys/{id}",
    summary: "Revoke a key, at once and for ever",
    params: KeyParams,
    responses: { 204: z.null() },
    permission: account,
  }),
  listAuditEntries: route({
    method: "GET",
    path: "/audit",
    summary: "Read the audit log",
    description:
      "Every request that may change something, every one that was forbidden, and every sign-in: who, from where, what, and what came of it. With `outcome` or `search`, a request reads up to 20,000 entries: its page may have few entries or none, with a `nextCursor` to continue from.",
    query: AuditQuery,
    responses: { 200: AuditList },
    permission: account,
  }),
};
