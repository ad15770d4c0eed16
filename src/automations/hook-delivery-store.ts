import { type Insertable, type Selectable, sql } from "kysely";
import {
  type FilterResult,
  keptBodyBytes,
  keptDeliveries,
  keptRefusals,
  shownBodyBytes,
  type Verdict,
} from "../contract/automation-hooks.ts";
import type { Database } from "../core/database/database.ts";
import { olderThan } from "../core/database/paging.ts";
import type { Tables } from "../core/database/tables.ts";
import type { AutomationState } from "./automation.ts";
import { planAtOnce } from "./due-store.ts";
import { planOverlap } from "./timing.ts";

/** A delivery to be stored. */
export interface NewDelivery {
  id: string;
  /** The sender's. */
  deliveryId: string | null;
  event: string | null;
  /** Without credentials. */
  headers: Readonly<Record<string, string>>;
  filter: FilterResult | null;
  /** The time for templates. */
  receivedAt: Date;
}

/** A delivery as lists show it. */
export interface ListedDelivery {
  id: string;
  verdict: Verdict;
  reason: string | null;
  filter: FilterResult | null;
  deliveryId: string | null;
  event: string | null;
  /** The beginning of the body; null: it was not verified. */
  body: Buffer | null;
  bodyBytes: number;
  runId: string | null;
  createdAt: Date;
}

/** A verified delivery with its body, which may have been cut. */
export interface KeptDelivery extends Pick<ListedDelivery, "bodyBytes" | "createdAt"> {
  headers: Record<string, string>;
  body: Buffer;
}

/** A delivery's run, and whether an earlier delivery had started it. */
export interface Taken {
  runId: string;
  isRepeated: boolean;
  isSkipped: boolean;
}

/** The deliveries to hooks. */
export class HookDeliveryStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Stores a delivery that was not verified, without what it says. */
  async refuse(automationId: string, id: string, reason: string, bodyBytes: number): Promise<void> {
    await this.#insert(this.#database, {
      ...{ id, automation_id: automationId, verified: false, verdict: "refused", reason, body_bytes: bodyBytes },
      headers: "{}",
    });
  }

  /** Stores a verified delivery that starts no run. */
  async leaveOut(
    automationId: string,
    delivery: NewDelivery,
    body: Buffer,
    verdict: Verdict,
    reason: string | null,
  ): Promise<void> {
    await this.#insert(this.#database, { ...toRow(automationId, delivery, body), verdict, reason });
  }

  /**
   * Stores a verified delivery with its run, in one transaction: whatever ends the server, a delivery that is repeated has
   * one run. Null: the automation was deleted.
   */
  take(
    automation: AutomationState & { agentId: string },
    delivery: NewDelivery,
    body: Buffer,
    runId: string,
  ): Promise<Taken | null> {
    return this.#database.transaction().execute(async (transaction) => {
      const { rows } = await sql`
        select from automations where id = ${automation.id} and deleted_at is null for update`.execute(transaction);
      if (rows.length === 0) return null;
      const earlier = delivery.deliveryId && (await runOf(transaction, automation.id, delivery.deliveryId));
      if (earlier) return { runId: earlier, isRepeated: true, isSkipped: false };
      const { overlap } = automation;
      const { reason } = await planAtOnce(transaction, automation, { id: runId, kind: "hook" }, (open) =>
        planOverlap({ overlap, open }),
      );
      const verdict = reason ? "skipped" : "run";
      const row = { ...toRow(automation.id, delivery, body), verdict, run_id: runId } as const;
      await this.#insert(transaction, { ...row, reason: reason?.message ?? null });
      if (delivery.deliveryId !== null) {
        const id = { automation_id: automation.id, delivery_id: delivery.deliveryId, run_id: runId };
        await transaction.insertInto("automation_delivery_ids").values(id).execute();
      }
      return { runId, isRepeated: false, isSkipped: reason !== null };
    });
  }

  /** Up to `limit` deliveries after the delivery `after`, newest first. */
  async list(automationId: string, limit: number, after: string | null): Promise<ListedDelivery[]> {
    const rows = await this.#database
      .selectFrom("automation_deliveries")
      .select(["id", "verdict", "reason", "filter", "delivery_id", "event", "body_bytes", "run_id", "created_at"])
      .select(sql<Buffer | null>`substring(body for ${shownBodyBytes}::integer)`.as("body"))
      .where("automation_id", "=", automationId)
      .$if(after !== null, (query) => query.where(olderThan("automation_deliveries", after!)))
      .orderBy("created_at", "desc")
      .orderBy("id", "desc")
      .limit(limit)
      .execute();
    return rows.map(toListed);
  }

  /** Null: there is none. `body` is null if it was not verified. */
  async find(automationId: string, id: string): Promise<(Omit<KeptDelivery, "body"> & { body: Buffer | null }) | null> {
    const row = await this.#database
      .selectFrom("automation_deliveries")
      .select(["headers", "body", "body_bytes", "created_at"])
      .where("automation_id", "=", automationId)
      .where("id", "=", id)
      .executeTakeFirst();
    if (!row) return null;
    return { headers: row.headers, body: row.body, bodyBytes: row.body_bytes, createdAt: row.created_at };
  }

  /** Inserts a delivery, and removes those beyond the number that is kept of its kind. */
  async #insert(database: Database, row: Insertable<Tables["automation_deliveries"]>): Promise<void> {
    await database.insertInto("automation_deliveries").values(row).execute();
    const kept = row.verified ? keptDeliveries : keptRefusals;
    await sql`
      delete from automation_deliveries where id = any(array(
        select id from automation_deliveries where automation_id = ${row.automation_id} and verified = ${row.verified}
        order by created_at desc, id desc offset ${kept}::integer for update skip locked))`.execute(database);
  }
}

/** The run of an earlier delivery; null: none was taken. Reads after the lock, since a statement sees what was before it. */
async function runOf(transaction: Database, automationId: string, deliveryId: string): Promise<string | null> {
  const rows = transaction.selectFrom("automation_delivery_ids").select("run_id");
  const found = rows.where("automation_id", "=", automationId).where("delivery_id", "=", deliveryId);
  return (await found.executeTakeFirst())?.run_id ?? null;
}

function toRow(automationId: string, { headers, filter, ...delivery }: NewDelivery, body: Buffer) {
  return {
    id: delivery.id,
    automation_id: automationId,
    verified: true,
    delivery_id: delivery.deliveryId,
    event: delivery.event,
    headers: JSON.stringify(headers),
    filter: filter && JSON.stringify(filter),
    body: body.subarray(0, keptBodyBytes),
    body_bytes: body.length,
  };
}

type ListedRow = Omit<Selectable<Tables["automation_deliveries"]>, "automation_id" | "verified" | "headers">;

function toListed(row: ListedRow): ListedDelivery {
  const { id, verdict, reason, filter, event, body } = row;
  return {
    ...{ id, verdict, reason, filter, event, body },
    deliveryId: row.delivery_id,
    bodyBytes: row.body_bytes,
    runId: row.run_id,
    createdAt: row.created_at,
  };
}
