import { randomUUID } from "node:crypto";
import { sql, type Transaction } from "kysely";
import { writeStartingEntry } from "../billing/credit-entry-store.ts";
import type { Role } from "../contract/workspaces.ts";
import type { Database } from "../core/database/database.ts";
import type { Tables } from "../core/database/tables.ts";
import { MinuteNotes } from "./minute-notes.ts";

/** The `iss` and `sub` of a person's tokens, and what these say of the person. */
export interface PersonIdentity {
  issuer: string;
  subject: string;
  /** Null if unknown. */
  name: string | null;
  email: string | null;
  emailVerified: boolean;
  timeZone: string | null;
}

/** A person's place in a workspace. */
export interface Membership {
  personId: string;
  accountId: string;
  role: Role;
  /** Whether the person administers the installation. */
  operator: boolean;
}

/** People: the users of identity providers. */
export class PeopleStore {
  readonly #database: Database;
  readonly #startingCredits: number;
  readonly #seen = new MinuteNotes();

  /** `startingCredits`: the micro-credits of a new personal workspace. */
  constructor(database: Database, startingCredits: number) {
    this.#database = database;
    this.#startingCredits = startingCredits;
  }

  /**
   * The person's membership in the workspace of this name or id; in the personal one without. The person is created on
   * first sign-in; concurrent first sign-ins create only one. `refused` if they may not sign in, null if they are not a
   * member of the workspace.
   */
  async find(
    identity: PersonIdentity,
    issuedAt: Date | null,
    workspace: string | null,
  ): Promise<Membership | "refused" | null> {
    let found = await this.#find(identity, workspace);
    if (found === undefined) {
      await this.#create(identity);
      found = await this.#find(identity, workspace);
    }
    if (!found || found.disabled_at !== null || isEnded(issuedAt, found.tokens_from)) return "refused";
    this.#noteSeen(found.id, identity, found);
    if (found.account_id === null) return workspace === null ? "refused" : null;
    return { personId: found.id, accountId: found.account_id, role: found.role!, operator: found.operator };
  }

  /** The person whose personal workspace this is; null before the first sign-in. */
  async idOf(accountId: string): Promise<string | null> {
    const rows = this.#database.selectFrom("people").select("id").where("account_id", "=", accountId);
    return (await rows.executeTakeFirst())?.id ?? null;
  }

  /** The only member of a workspace, or the person whose personal one it is. */
  async onlyOwner(accountId: string): Promise<{ id: string; name: string } | "nobody" | "several"> {
    const [first, second] = await this.#database
      .selectFrom("memberships")
      .innerJoin("people", "people.id", "memberships.person_id")
      .select(["people.id", "people.name", sql<boolean>`people.account_id = memberships.account_id`.as("isPersonal")])
      .where("memberships.account_id", "=", accountId)
      .orderBy("isPersonal", "desc")
      .limit(2)
      .execute();
    if (!first) return "nobody";
    return first.isPersonal || !second ? first : "several";
  }

  /** Null if there is no such person. */
  async nameOf(id: string): Promise<string | null> {
    const people = this.#database.selectFrom("people").select("name").where("id", "=", id);
    return (await people.executeTakeFirst())?.name ?? null;
  }

  /** The person's role in the workspace; null if they are not a member, or may not use tokens of this age. */
  async roleIn(personId: string, accountId: string, issuedAt: Date | null): Promise<Role | null> {
    const { rows } = await sql<{ role: Role; tokens_from: Date | null }>`
      select membership.role, person.tokens_from
      from people person
        join memberships membership on membership.person_id = person.id
        join accounts account on account.id = membership.account_id
      where person.id = ${personId} and account.id = ${accountId}
        and person.disabled_at is null and account.disabled_at is null`.execute(this.#database);
    const [row] = rows;
    return row && !isEnded(issuedAt, row.tokens_from) ? row.role : null;
  }

  async #find({ issuer, subject }: PersonIdentity, workspace: string | null): Promise<FoundRow | undefined> {
    const { rows } = await sql<FoundRow>`
      select person.id, person.name, person.email, person.email_verified, person.time_zone,
        person.disabled_at, person.tokens_from, home.operator, membership.account_id, membership.role,
        person.last_seen_at is null or person.last_seen_at < now() - interval '1 minute' as note
      from people person
        join accounts home on home.id = person.account_id
        left join lateral (
          select membership.account_id, membership.role
          from memberships membership join accounts account on account.id = membership.account_id
          where membership.person_id = person.id and account.disabled_at is null and ${chosen(workspace)}
          order by account.id::text = ${workspace} desc, account.name_key is null, account.created_at
          limit 1
        ) membership on true
      where person.issuer = ${issuer} and person.subject = ${subject}`.execute(this.#database);
    return rows[0];
  }

  /** Does nothing if another request has just created the person. */
  async #create({ issuer, subject, name, email, emailVerified, timeZone }: PersonIdentity): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      const account = { id: randomUUID(), name: name ?? subject };
      await transaction.insertInto("accounts").values(account).execute();
      const made = await insertPerson(transaction, {
        issuer,
        subject,
        account_id: account.id,
        name: account.name,
        email,
        email_verified: emailVerified,
        time_zone: timeZone,
      });
      if (made) await writeStartingEntry(transaction, account.id, this.#startingCredits);
      else await transaction.deleteFrom("accounts").where("id", "=", account.id).execute();
    });
  }

  /** Records that the person was seen, at most once a minute, with what the token says of them. */
  #noteSeen(id: string, { name, email, emailVerified, timeZone }: PersonIdentity, found: FoundRow): void {
    const isOutdated =
      (name !== null && name !== found.name) ||
      (email !== null && (email !== found.email || emailVerified !== found.email_verified)) ||
      (timeZone !== null && timeZone !== found.time_zone);
    if (!found.note && !isOutdated) return;
    this.#seen.note(id, () =>
      this.#database
        .updateTable("people")
        .set({
          last_seen_at: new Date(),
          ...(name !== null && { name }),
          ...(email !== null && { email, email_verified: emailVerified }),
          ...(timeZone !== null && { time_zone: timeZone }),
        })
        .where("id", "=", id)
        .execute(),
    );
  }
}

interface FoundRow {
  id: string;
  name: string;
  email: string | null;
  email_verified: boolean;
  time_zone: string | null;
  disabled_at: Date | null;
  tokens_from: Date | null;
  operator: boolean;
  /** Null if the person is not a member. */
  account_id: string | null;
  role: Role | null;
  /** Whether the person was recorded as seen more than a minute ago. */
  note: boolean;
}

/** The condition on `account` and `person` that selects the requested workspace. */
function chosen(workspace: string | null) {
  if (workspace === null || workspace === "personal") return sql`account.id = person.account_id`;
  const key = workspace.normalize("NFKC").toLowerCase();
  return sql`(account.id::text = ${workspace} or account.name_key = ${key}
    or (account.name_key is null and lower(normalize(account.name, nfkc)) = ${key}))`;
}

/** Inserts a person as the owner of their personal workspace. Returns their id; null if the person exists. */
export async function insertPerson(
  transaction: Transaction<Tables>,
  person: {
    issuer: string;
    subject: string;
    account_id: string;
    name: string;
    email?: string | null;
    email_verified?: boolean;
    time_zone?: string | null;
  },
): Promise<string | null> {
  const made = await transaction
    .insertInto("people")
    .values({ id: randomUUID(), ...person })
    .onConflict((conflict) => conflict.constraint("people_identity").doNothing())
    .returning("id")
    .executeTakeFirst();
  if (!made) return null;
  await transaction
    .insertInto("memberships")
    .values({ person_id: made.id, account_id: person.account_id, role: "owner" })
    .execute();
  return made.id;
}

/** Whether a token was issued too early: a new password invalidates older tokens. Tokens have whole seconds. */
function isEnded(issuedAt: Date | null, from: Date | null): boolean {
  if (from === null) return false;
  return issuedAt === null || issuedAt.getTime() + 1_000 <= from.getTime();
}
