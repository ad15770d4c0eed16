import { type Selectable, sql } from "kysely";
import type { AgentNotify, ChannelFailures, ChannelName, Notify } from "../contract/notifications.ts";
import type { Database } from "../core/database/database.ts";
import { visibleTo } from "../core/database/private-agents.ts";
import type { Tables } from "../core/database/tables.ts";
import type { Viewer } from "../core/http/access.ts";
import type { Sealing } from "../core/http/idempotency-store.ts";
import type { ProfileChange, ProfileState } from "./profile.ts";

/** How long the link to an address is valid. */
const linkHours = 24;

/** How people are notified. Tokens of ntfy are stored encrypted and bound to their rows. */
export class ProfileStore {
  readonly #database: Database;
  readonly #sealing: Sealing;

  constructor(database: Database, sealing: Sealing) {
    this.#database = database;
    this.#sealing = sealing;
  }

  /** The settings of a person who exists. */
  async find(personId: string): Promise<ProfileState> {
    const row = await this.#database
      .selectFrom("people")
      .leftJoin("profiles", "profiles.person_id", "people.id")
      .selectAll("profiles")
      .select(["people.id", "people.email as signInEmail", "people.email_verified as signInVerified"])
      .select("people.time_zone as signInTimeZone")
      .where("people.id", "=", personId)
      .executeTakeFirstOrThrow();
    return toState(row);
  }

  async change(personId: string, change: ProfileChange): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      await ensureRow(transaction, personId);
      const columns = this.#columnsOf(personId, change);
      if (Object.keys(columns).length > 0) {
        await transaction.updateTable("profiles").set(columns).where("person_id", "=", personId).execute();
      }
      // Looked at again with the new hours.
      await sql`
        update notifications set due_at = clock_timestamp() where person_id = ${personId} and held`.execute(
        transaction,
      );
    });
  }

  /** Stores that an address waits for its link. An earlier link is invalid from now on. */
  async awaitEmail(personId: string, email: string, tokenHash: Buffer): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      await ensureRow(transaction, personId);
      await sql`
        update profiles set pending_email = ${email}, pending_token_hash = ${tokenHash},
          pending_until = now() + make_interval(hours => ${linkHours}::integer)
        where person_id = ${personId}`.execute(transaction);
    });
  }

  /** Whether the link was valid: then its address is the person's. */
  async verifyEmail(personId: string, tokenHash: Buffer): Promise<boolean> {
    const { numAffectedRows = 0n } = await sql`
      update profiles set email = pending_email, pending_email = null, pending_token_hash = null, pending_until = null,
        email_notifications = true, failures = failures - 'email'
      where person_id = ${personId} and pending_token_hash = ${tokenHash} and pending_until > now()`.execute(
      this.#database,
    );
    return numAffectedRows > 0n;
  }

  /** Turns mail off. Nothing happens if the person is gone. */
  async unsubscribe(personId: string): Promise<void> {
    await sql`
      insert into profiles (person_id, email_notifications) select id, false from people where id = ${personId}
      on conflict (person_id) do update set email_notifications = false`.execute(this.#database);
  }

  /** Records why a channel refused a notification for good; null: it accepted one. */
  async setFailure(personId: string, channel: ChannelName, message: string | null): Promise<void> {
    if (message === null) {
      await sql`
        update profiles set failures = failures - ${channel}::text
        where person_id = ${personId} and failures ? ${channel}`.execute(this.#database);
      return;
    }
    const failures: ChannelFailures = { [channel]: { message, at: new Date().toISOString() } };
    await sql`
      insert into profiles (person_id, failures) select id, ${JSON.stringify(failures)}::jsonb from people where id = ${personId}
      on conflict (person_id) do update set failures = profiles.failures || excluded.failures`.execute(this.#database);
  }

  /** The token of ntfy; null if there is none, or if it was encrypted with another key. */
  openToken({ personId, ntfyToken }: ProfileState): string | null {
    return ntfyToken && this.#sealing.open(ntfyToken, contextOf(personId));
  }

  async setAgent(personId: string, accountId: string, agentId: string, notify: Notify): Promise<void> {
    await this.#database
      .insertInto("agent_notify")
      .values({ person_id: personId, account_id: accountId, agent_id: agentId, notify })
      .onConflict((conflict) => conflict.columns(["person_id", "agent_id"]).doUpdateSet({ notify }))
      .execute();
  }

  async removeAgent(personId: string, agentId: string): Promise<void> {
    await this.#database
      .deleteFrom("agent_notify")
      .where("person_id", "=", personId)
      .where("agent_id", "=", agentId)
      .execute();
  }

  /** Up to `limit` choices for agents of the workspace that the person may see, after the agent `after`, by name. */
  async agents(viewer: Viewer, limit: number, after: string | null): Promise<AgentNotify[]> {
    return this.#database
      .selectFrom("agent_notify")
      .innerJoin("agents", "agents.id", "agent_notify.agent_id")
      .select(["agents.name as agent", "agent_notify.notify"])
      .where("agent_notify.person_id", "=", viewer.personId)
      .where("agent_notify.account_id", "=", viewer.accountId)
      .where(visibleTo(viewer, "all"))
      .$if(after !== null, (query) => query.where("agents.name", ">", after))
      .orderBy("agents.name")
      .limit(limit)
      .execute();
  }

  #columnsOf(personId: string, change: ProfileChange) {
    const { email, emailNotifications, timeZone, quietHours, notify, ntfy } = change;
    return {
      ...(email === null && { email: null, pending_email: null, pending_token_hash: null, pending_until: null }),
      ...(emailNotifications !== undefined && { email_notifications: emailNotifications }),
      ...(timeZone !== undefined && { time_zone: timeZone }),
      ...(quietHours !== undefined && { quiet_from: quietHours?.from ?? null, quiet_to: quietHours?.to ?? null }),
      ...(notify !== undefined && { notify }),
      ...(ntfy !== undefined && {
        ntfy_url: ntfy?.url ?? null,
        // Never sent to another address than the one that it was given for.
        ntfy_token:
          ntfy?.token == null
            ? sql<Buffer | null>`case when ${ntfy?.token === undefined}::boolean and ntfy_url = ${ntfy?.url ?? null} then ntfy_token end`
            : this.#sealing.seal(ntfy.token, contextOf(personId)),
        failures: sql<string>`failures - 'ntfy'`,
      }),
    };
  }
}

async function ensureRow(transaction: Database, personId: string): Promise<void> {
  await sql`insert into profiles (person_id) values (${personId}) on conflict do nothing`.execute(transaction);
}

/** Binds a token to its row. */
function contextOf(personId: string): string {
  return `profiles ${personId}`;
}

type Row = { [Column in keyof Selectable<Tables["profiles"]>]: Selectable<Tables["profiles"]>[Column] | null } & {
  id: string;
  signInEmail: string | null;
  signInVerified: boolean;
  signInTimeZone: string | null;
};

function toState(row: Row): ProfileState {
  const isPending = row.pending_until !== null && row.pending_until > new Date();
  return {
    personId: row.id,
    email: row.email ?? row.signInEmail,
    emailVerified: row.email !== null || (row.signInEmail !== null && row.signInVerified),
    pendingEmail: isPending ? row.pending_email : null,
    emailNotifications: row.email_notifications ?? true,
    timeZone: row.time_zone,
    signInTimeZone: row.signInTimeZone,
    quietHours: row.quiet_from === null ? null : { from: row.quiet_from, to: row.quiet_to! },
    notify: row.notify ?? "needs-me",
    ntfyUrl: row.ntfy_url,
    ntfyToken: row.ntfy_token,
    failures: row.failures ?? {},
  };
}
