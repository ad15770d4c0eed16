import { sql } from "kysely";
import { earlierSecretHours } from "../contract/automation-hooks.ts";
import type { Database } from "../core/database/database.ts";
import type { Sealing } from "../core/http/idempotency-store.ts";

const hintLength = 4;

/** The secrets of hooks. They are stored encrypted and bound to their automations. */
export class HookStore {
  readonly #database: Database;
  readonly #sealing: Sealing;

  constructor(database: Database, sealing: Sealing) {
    this.#database = database;
    this.#sealing = sealing;
  }

  async insert(transaction: Database, automationId: string, secret: string): Promise<void> {
    await transaction
      .insertInto("automation_hooks")
      .values({ automation_id: automationId, ...this.#columnsOf(automationId, secret) })
      .execute();
  }

  /**
   * Replaces the secret; the one before stays valid for a day. A request whose `rotation` was the last changes nothing.
   * Returns the secret; null: the automation has none, or it was encrypted with another secret key.
   */
  async rotate(automationId: string, rotation: string, secret: string): Promise<string | null> {
    const { secret: sealed, hint } = this.#columnsOf(automationId, secret);
    await sql`
      update automation_hooks set earlier_secret = secret, secret = ${sealed}, hint = ${hint}, rotated_by = ${rotation},
        earlier_until = clock_timestamp() + make_interval(hours => ${earlierSecretHours}::integer)
      where automation_id = ${automationId} and rotated_by is distinct from ${rotation}`.execute(this.#database);
    return this.secretOf(automationId);
  }

  /** Null: there is none, or it was encrypted with another secret key. */
  async secretOf(automationId: string): Promise<string | null> {
    const rows = this.#database.selectFrom("automation_hooks").select("secret");
    const row = await rows.where("automation_id", "=", automationId).executeTakeFirst();
    return row ? this.#open(automationId, row.secret) : null;
  }

  /** The secrets that are valid now, the newest first; null: there is no such hook, or its workspace was deleted. */
  async secretsOf(automationId: string): Promise<string[] | null> {
    const { rows } = await sql<{ secret: Buffer; earlier: Buffer | null }>`
      select secret, case when earlier_until > clock_timestamp() then earlier_secret end as earlier
      from automation_hooks
        join automations on automations.id = automation_id and deleted_at is null
        join accounts on accounts.id = automations.account_id and disabled_at is null
      where automation_id = ${automationId}`.execute(this.#database);
    const [row] = rows;
    if (!row) return null;
    const opened = [row.secret, row.earlier].map((sealed) => sealed && this.#open(automationId, sealed));
    return opened.filter((secret) => secret !== null);
  }

  #columnsOf(automationId: string, secret: string) {
    return { secret: this.#sealing.seal(secret, contextOf(automationId)), hint: secret.slice(-hintLength) };
  }

  #open(automationId: string, sealed: Buffer): string | null {
    return this.#sealing.open(sealed, contextOf(automationId));
  }
}

/** Binds ciphertext to its row. */
function contextOf(automationId: string): string {
  return JSON.stringify(["automation_hooks", automationId]);
}
