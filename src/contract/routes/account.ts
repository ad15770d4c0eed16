import { z } from "zod";
import { AccountEvent, AccountEventsQuery } from "../account-events.ts";
import { ListQuery } from "../agents.ts";
import { AuditList, AuditQuery } from "../audit.ts";
import { CreatedKey, CreateKey, KeyList, KeyParams } from "../keys.ts";
import { ProgramList, ProgramParams } from "../programs.ts";
import { reading, route, using } from "../route.ts";
import { AccountRecord } from "../sign-in.ts";

/** The caller's account, its programs, its events, its keys and its audit log. */
export const accountRoutes = {
  getAccount: route({
    method: "GET",
    path: "/account",
    summary: "Show the caller's account",
    responses: { 200: AccountRecord },
    permission: reading,
  }),
  listPrograms: route({
    method: "GET",
    path: "/account/programs",
    summary: "List the signed-in third-party programs",
    description: "Assistants and editors that the account's user has allowed to use `/mcp`.",
    responses: { 200: ProgramList },
    permission: reading,
  }),
  endProgram: route({
    method: "DELETE",
    path: "/account/programs/{id}",
    summary: "Revoke a program's sign-ins immediately",
    description: "Its tokens are refused from now on. It may ask the user to sign in again.",
    params: ProgramParams,
    responses: { 204: z.null() },
    permission: reading,
  }),
  getEvents: route({
    method: "GET",
    path: "/events",
    summary: "Follow the account's events",
    description:
      "Agents, turns, credits, refused connections, keys, members and invitations, as an endless event stream. Open it first, then list: it begins with `events.opened`, and every later event follows. Events are kept for seven days.",
    query: AccountEventsQuery,
    responses: {},
    permission: reading,
    stream: AccountEvent,
  }),
  listKeys: route({
    method: "GET",
    path: "/keys",
    summary: "List the keys",
    query: ListQuery,
    responses: { 200: KeyList },
    permission: using,
  }),
  createKey: route({
    method: "POST",
    path: "/keys",
    summary: "Create a key",
    description: "The response contains the key itself, once. A key cannot create one with more rights than its own.",
    body: CreateKey,
    responses: { 201: CreatedKey },
    permission: using,
    limit: "keys",
  }),
  revokeKey: route({
    method: "DELETE",
    path: "/keys/{id}",
    summary: "Revoke a key immediately and permanently",
    params: KeyParams,
    responses: { 204: z.null() },
    permission: using,
  }),
  listAuditEntries: route({
    method: "GET",
    path: "/audit",
    summary: "Read the audit log",
    description:
      "Every request that may change something, every refused one, and every sign-in: the caller, the address, the operation and the outcome. With `outcome` or `search`, a request reads up to 20,000 entries: its page may have few entries or none, with a `nextCursor` to continue from.",
    query: AuditQuery,
    responses: { 200: AuditList },
    permission: using,
    csv: true,
  }),
};
