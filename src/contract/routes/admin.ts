import { z } from "zod";
import { Agent, ListQuery } from "../agents.ts";
import { Backup, BackupParams } from "../backups.ts";
import { AccountCreditsList, CreditGrant, GrantCredits } from "../billing.ts";
import { Capacity } from "../capacity.ts";
import { GiveBackOrphan, OrphanList, OrphanParams } from "../orphans.ts";
import { Reachability } from "../reachability.ts";
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
    description: "The response contains a link, once, with which the user sets a password.",
    body: CreateUser,
    responses: { 201: UserWithLink },
    permission: operatorOnly,
  }),
  resetUser: route({
    method: "POST",
    path: "/admin/users/{name}/reset",
    summary: "Reset a user's password and return a link to set a new one",
    description: "Ends all of the user's sessions and sign-ins.",
    params: UserParams,
    responses: { 200: UserWithLink },
    permission: operatorOnly,
  }),
  disableUser: route({
    method: "POST",
    path: "/admin/users/{name}/disable",
    summary: "Disable a user and the keys of its account immediately",
    params: UserParams,
    responses: { 200: UserRecord },
    permission: operatorOnly,
  }),
  enableUser: route({
    method: "POST",
    path: "/admin/users/{name}/enable",
    summary: "Enable a user again",
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
    summary: "Show host capacity and usage",
    responses: { 200: Capacity },
    permission: operatorOnly,
    by: "own leader",
  }),
  getReachability: route({
    method: "GET",
    path: "/admin/reachability",
    summary: "Show whether phones, passkeys and push messages can use the public address",
    description:
      "The server calls its own public address, which takes up to 5 s. It cannot see firewalls behind itself.",
    responses: { 200: Reachability },
    permission: operatorOnly,
  }),
  createBackup: route({
    method: "POST",
    path: "/admin/backups",
    summary: "Make a backup of the installation",
    description:
      "All records, and the machines of this server's agents. Each machine is paused for some tenths of a second. Replaces the previous backup, and can be downloaded for an hour.",
    responses: { 201: Backup },
    permission: operatorOnly,
    by: "own leader",
  }),
  readBackup: route({
    method: "GET",
    path: "/admin/backups/{id}",
    summary: "Download a backup",
    description:
      "A tar archive. Its last file lists all others with their checksums; without it, the archive is truncated.",
    params: BackupParams,
    responses: {},
    permission: operatorOnly,
    givesBytes: ["application/x-tar"],
    by: "own leader",
  }),
  removeBackup: route({
    method: "DELETE",
    path: "/admin/backups/{id}",
    summary: "Delete a backup",
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
      "Files on this server's host that belong to no row of the database: machines, snapshots and received archives.",
    responses: { 200: OrphanList },
    permission: operatorOnly,
    by: "own leader",
  }),
  giveBackOrphan: route({
    method: "POST",
    path: "/admin/orphans/{id}/give-back",
    summary: "Recover a quarantined machine or snapshot as an agent",
    description:
      "The agent is suspended and belongs to the account. Its files are unchanged. Its settings, secrets and history were in the database and are not restored.",
    params: OrphanParams,
    body: GiveBackOrphan,
    responses: { 201: Agent },
    permission: operatorOnly,
    by: "own leader",
  }),
  removeOrphan: route({
    method: "DELETE",
    path: "/admin/orphans/{id}",
    summary: "Delete files from the quarantine permanently",
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
    summary: "Grant credits to an account, or withdraw some",
    body: GrantCredits,
    responses: { 201: CreditGrant },
    permission: operatorOnly,
  }),
};
