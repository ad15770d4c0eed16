import { z } from "zod";
import { Agent, ListQuery } from "../agents.ts";
import { Backup, BackupParams } from "../backups.ts";
import { AccountCreditsList, CreditGrant, GrantCredits } from "../billing.ts";
import { Capacity } from "../capacity.ts";
import { GiveBackOrphan, OrphanList, OrphanParams } from "../orphans.ts";
import { operatorOnly, route } from "../route.ts";
import {
  CreateUser,
  ReplaceSigningKeys,
  SigningKeysReplaced,
  UserList,
  UserParams,
  UserRecord,
  UserWithLink,
} from "../users.ts";

/** Users of the built-in identity provider, the credits of all accounts, and the host. */
export const adminRoutes = {
  listUsers: route({
    method: "GET",
    path: "/admin/users",
    summary: "List the users",
    query: ListQuery,
    responses: { 200: UserList },
    permission: operatorOnly,
  }),
  createUser: route({
    method: "POST",
    path: "/admin/users",
    summary: "Add a user",
    description: "The answer has a link, this once, with which the user sets a password.",
    body: CreateUser,
    responses: { 201: UserWithLink },
    permission: operatorOnly,
  }),
  resetUser: route({
    method: "POST",
    path: "/admin/users/{name}/reset",
    summary: "Take a user's password away and answer a link for a new one",
    description: "Ends what the user has signed in.",
    params: UserParams,
    responses: { 200: UserWithLink },
    permission: operatorOnly,
  }),
  disableUser: route({
    method: "POST",
    path: "/admin/users/{name}/disable",
    summary: "Refuse a user and the keys of its account, at once",
    params: UserParams,
    responses: { 200: UserRecord },
    permission: operatorOnly,
  }),
  enableUser: route({
    method: "POST",
    path: "/admin/users/{name}/enable",
    summary: "Let a user in again",
    params: UserParams,
    responses: { 200: UserRecord },
    permission: operatorOnly,
  }),
  replaceSigningKeys: route({
    method: "POST",
    path: "/admin/signing-keys",
    summary: "Replace the keys that the built-in provider signs tokens with",
    description: "Sessions and refresh tokens stay valid; with `now`, browsers sign in again.",
    body: ReplaceSigningKeys,
    responses: { 201: SigningKeysReplaced },
    permission: operatorOnly,
  }),
  getCapacity: route({
    method: "GET",
    path: "/admin/capacity",
    summary: "Show what the host has for machines, and what is taken of it",
    responses: { 200: Capacity },
    permission: operatorOnly,
    by: "own leader",
  }),
  createBackup: route({
    method: "POST",
    path: "/admin/backups",
    summary: "Make a backup of the installation",
    description:
      "All rows, and the machines of this server's agents, each at a moment at which it stood still for some tenths of a second. It takes the place of the last one, and waits for an hour to be read.",
    responses: { 201: Backup },
    permission: operatorOnly,
    by: "own leader",
  }),
  readBackup: route({
    method: "GET",
    path: "/admin/backups/{id}",
    summary: "Read a backup",
    description: "A tar archive, whose last file lists all others with their checksums: without it, it is cut off.",
    params: BackupParams,
    responses: {},
    permission: operatorOnly,
    givesBytes: true,
    by: "own leader",
  }),
  removeBackup: route({
    method: "DELETE",
    path: "/admin/backups/{id}",
    summary: "Remove a backup that waits to be read",
    params: BackupParams,
    responses: { 204: z.null() },
    permission: operatorOnly,
    by: "own leader",
  }),
  listOrphans: route({
    method: "GET",
    path: "/admin/orphans",
    summary: "List the quarantine",
    description:
      "Files on the host of this server that no row of the database named: machines, snapshots and received archives.",
    responses: { 200: OrphanList },
    permission: operatorOnly,
    by: "own leader",
  }),
  giveBackOrphan: route({
    method: "POST",
    path: "/admin/orphans/{id}/give-back",
    summary: "Make an agent of a quarantined machine or snapshot",
    description:
      "The agent sleeps and belongs to the account. Its files are as they were. Its settings, secrets and history were in the database and are not restored.",
    params: OrphanParams,
    body: GiveBackOrphan,
    responses: { 201: Agent },
    permission: operatorOnly,
    by: "own leader",
  }),
  removeOrphan: route({
    method: "DELETE",
    path: "/admin/orphans/{id}",
    summary: "Remove files from the quarantine for good",
    params: OrphanParams,
    responses: { 204: z.null() },
    permission: operatorOnly,
    by: "own leader",
  }),
  listCredits: route({
    method: "GET",
    path: "/admin/credits",
    summary: "List all accounts with their credits",
    query: ListQuery,
    responses: { 200: AccountCreditsList },
    permission: operatorOnly,
  }),
  grantCredits: route({
    method: "POST",
    path: "/admin/credits/grants",
    summary: "Give an account credits, or take some back",
    body: GrantCredits,
    responses: { 201: CreditGrant },
    permission: operatorOnly,
  }),
};
