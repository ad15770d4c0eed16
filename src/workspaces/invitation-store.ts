import { type Selectable, sql, type Transaction } from "kysely";
import { BerthError } from "../contract/errors.ts";
import { isWithin } from "../contract/workspaces.ts";
import type { Database } from "../core/database/database.ts";
import { lockAccount } from "../core/database/lock-account.ts";
import type { Tables } from "../core/database/tables.ts";
import { requireFewWorkspaces } from "./store.ts";
import type { InvitationState } from "./workspaces.ts";

const maximumMembers = 1_000;
/** Open invitations of one workspace. */
const maximumInvitations = 100;
/** Invitations that one workspace creates within a day, so that their rows are bounded. */
const maximumInvitationsADay = 500;

/** The condition that an invitation can be accepted. */
const isOpen = sql<boolean>`(accepted_at is null and revoked_at is null and expires_at > now())`;

/** Invitations to workspaces. */
export class InvitationStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The open invitations, the newest first. */
  async list(accountId: string): Promise<InvitationState[]> {
    const rows = await this.#database
      .selectFrom("invitations")
      .selectAll()
      .where("account_id", "=", accountId)
      .where(isOpen)
      .orderBy("created_at", "desc")
      .orderBy("id")
      .limit(maximumInvitations)
      .execute();
    return rows.map(toInvitation);
  }

  /** Throws `too_many_invitations`. */
  async insert(
    accountId: string,
    personId: string | null,
    tokenHash: Buffer,
    { id, role, email, createdAt, expiresAt }: InvitationState,
  ): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      await lockAccount(transaction, accountId);
      const { rows } = await sql<{ open: number; today: number }>`
        select count(*) filter (where ${isOpen})::int as open,
          count(*) filter (where created_at > now() - interval '1 day')::int as today
        from invitations where account_id = ${accountId}`.execute(transaction);
      const { open, today } = rows[0]!;
      if (open >= maximumInvitations || today >= maximumInvitationsADay) {
        const message = `A workspace can have ${maximumInvitations} open invitations, and create ${maximumInvitationsADay} a day.`;
        throw new BerthError("too_many_invitations", message);
      }
      await transaction
        .insertInto("invitations")
        .values({
          id,
          account_id: accountId,
          token_hash: tokenHash,
          role,
          email,
          person_id: personId,
          created_at: createdAt,
          expires_at: expiresAt,
        })
        .execute();
    });
  }

  /** False if the workspace has no such open invitation. */
  async revoke(accountId: string, id: string): Promise<boolean> {
    const { numUpdatedRows } = await this.#database
      .updateTable("invitations")
      .set({ revoked_at: new Date() })
      .where("account_id", "=", accountId)
      .where("id", "=", id)
      .where("accepted_at", "is", null)
      .where("revoked_at", "is", null)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /**
   * Makes the person a member. Returns the workspace's id. Throws `invitation_not_found`, `invitation_ended`,
   * `forbidden`, `member_exists`, `too_many_members`, `too_many_workspaces`.
   */
  async accept(tokenHash: Buffer, personId: string): Promise<string> {
    return this.#database.transaction().execute(async (transaction) => {
      const found = transaction.selectFrom("invitations").where("token_hash", "=", tokenHash);
      const workspace = await found.select("account_id").executeTakeFirst();
      // The workspace first, as where members are removed: else each could wait for the other.
      if (workspace) await lockAccount(transaction, workspace.account_id);
      const invitation = await found.selectAll().forUpdate().executeTakeFirst();
      if (!invitation) throw new BerthError("invitation_not_found", "There is no such invitation.");
      const { id, account_id: accountId, role } = invitation;
      await requireOpen(transaction, invitation);
      await requireAddress(transaction, personId, invitation.email);
      await requireRoom(transaction, accountId, personId);
      await transaction
        .insertInto("memberships")
        .values({ person_id: personId, account_id: accountId, role })
        .execute();
      await transaction.updateTable("invitations").set({ accepted_at: new Date() }).where("id", "=", id).execute();
      return accountId;
    });
  }
}

/** Throws `invitation_ended` also if who made it may no longer grant its role. */
async function requireOpen(transaction: Transaction<Tables>, row: Selectable<Tables["invitations"]>): Promise<void> {
  const hasEnded = row.accepted_at !== null || row.revoked_at !== null || row.expires_at <= new Date();
  if (hasEnded) throw new BerthError("invitation_ended", "The invitation was used or revoked, or has expired.");
  const accounts = transaction.selectFrom("accounts").select("id").where("id", "=", row.account_id);
  if (!(await accounts.where("disabled_at", "is", null).executeTakeFirst()))
    throw new BerthError("invitation_ended", "The invitation's workspace was deleted or disabled.");
  if (row.person_id === null) return;
  const maker = await transaction
    .selectFrom("memberships")
    .select("role")
    .where("person_id", "=", row.person_id)
    .where("account_id", "=", row.account_id)
    .executeTakeFirst();
  if (maker && isWithin("admin", maker.role) && isWithin(row.role, maker.role)) return;
  throw new BerthError(
    "invitation_ended",
    "The person who made the invitation may no longer invite to this workspace.",
  );
}

async function requireAddress(transaction: Transaction<Tables>, personId: string, email: string | null): Promise<void> {
  if (email === null) return;
  const person = await transaction
    .selectFrom("people")
    .select(["email", "email_verified"])
    .where("id", "=", personId)
    .executeTakeFirstOrThrow();
  if (person.email_verified && person.email?.toLowerCase() === email.toLowerCase()) return;
  throw new BerthError("forbidden", "The invitation is for a person with another verified e-mail address.");
}

async function requireRoom(transaction: Transaction<Tables>, accountId: string, personId: string): Promise<void> {
  const members = transaction.selectFrom("memberships").where("account_id", "=", accountId);
  if (await members.select("role").where("person_id", "=", personId).executeTakeFirst()) {
    throw new BerthError("member_exists", "You are already a member of this workspace.");
  }
  const { count } = await members.select(({ fn }) => fn.countAll<string>().as("count")).executeTakeFirstOrThrow();
  if (Number(count) >= maximumMembers) {
    throw new BerthError("too_many_members", `A workspace can have at most ${maximumMembers} members.`);
  }
  await requireFewWorkspaces(transaction, personId);
}

function toInvitation(row: Selectable<Tables["invitations"]>): InvitationState {
  const { id, role, email } = row;
  return { id, role, email, createdAt: row.created_at, expiresAt: row.expires_at };
}
