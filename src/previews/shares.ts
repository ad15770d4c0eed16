import { createHash, randomBytes, randomUUID } from "node:crypto";
import type { AgentState } from "../agents/agent.ts";
import type { Author } from "../contract/authors.ts";
import { BerthError } from "../contract/errors.ts";
import { type CreateShare, maximumShares, type ShareRecord } from "../contract/shares.ts";
import type { AuthorIds } from "../core/database/authors.ts";
import type { ShareStore } from "./share-store.ts";

/** A public link to a port, without its secret. */
export interface ShareState {
  id: string;
  port: number;
  createdBy: Author | null;
  createdAt: Date;
  expiresAt: Date | null;
}

/** The share as its owner sees it. */
export function toShareView({ id, port, createdBy, createdAt, expiresAt }: ShareState): ShareRecord {
  return { id, port, createdBy, createdAt: createdAt.toISOString(), expiresAt: expiresAt?.toISOString() ?? null };
}

/** Public links to ports: each is good for one port, until it expires or is removed. */
export class Shares {
  readonly #rows: ShareStore;

  constructor(rows: ShareStore) {
    this.#rows = rows;
  }

  /** Returns the share, and the secret of its link. Throws `request_invalid`, `agent_not_found`. */
  async create(
    agent: AgentState,
    port: number,
    { expiresAt }: CreateShare,
    by: AuthorIds,
  ): Promise<{ share: ShareState; secret: string }> {
    const expires = expiresAt === undefined ? null : new Date(expiresAt);
    if (expires && expires.getTime() <= Date.now())
      throw new BerthError("request_invalid", "expiresAt: a time that has passed.");
    const secret = randomBytes(32).toString("base64url");
    const share = { id: randomUUID(), port, expiresAt: expires };
    const inserted = await this.#rows.insert(agent.id, share, by, hashOf(secret), maximumShares);
    if (inserted === "gone") throw new BerthError("agent_not_found", `There is no agent ${agent.name}.`);
    if (inserted === "full")
      throw new BerthError("request_invalid", `An agent can have at most ${maximumShares} shares: remove one.`);
    return { share: inserted, secret };
  }

  /** The oldest first. */
  list(agent: AgentState): Promise<ShareState[]> {
    return this.#rows.list(agent.id);
  }

  /** Throws `share_not_found`. */
  async remove(agent: AgentState, id: string): Promise<void> {
    if (await this.#rows.remove(agent.id, id)) return;
    throw new BerthError("share_not_found", `The agent has no share ${id}, or has it no longer.`);
  }

  /** The id of the share of that port with this secret; null if there is none, or it has ended. */
  bySecret(agent: AgentState, port: number, secret: string): Promise<string | null> {
    return this.#rows.bySecret(agent.id, port, hashOf(secret));
  }

  /** Whether the share has not ended. */
  isOpen(id: string): Promise<boolean> {
    return this.#rows.isOpen(id);
  }
}

/** A secret of 256 random bits needs no slow hash. */
function hashOf(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}
