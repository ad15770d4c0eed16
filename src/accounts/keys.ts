import { fromCredits, toCredits } from "../billing/credits.ts";
import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";
import type { CreateKey, KeyRecord } from "../contract/keys.ts";
import { allows, isWithin, lesserRole, type Role } from "../contract/workspaces.ts";
import { accessTo } from "../core/http/access.ts";
import type { Attempt } from "../core/http/attempt.ts";
import type { Caller } from "../core/http/caller.ts";
import { createKey } from "./key-format.ts";
import type { KeyOwner } from "./key-store.ts";

/** A key as the service stores it. */
export interface KeyState {
  id: string;
  accountId: string;
  /** Its maker; null: a key without a maker made it. */
  personId: string | null;
  role: Role;
  name: string | null;
  kind: KeyRecord["kind"];
  /** The agents that the key is limited to; null for a full key. */
  agents: { id: string; name: string }[] | null;
  creditLimitMicro: number | null;
  prefix: string;
  hash: Buffer;
  createdAt: Date;
  lastUsedAt: Date | null;
  expiresAt: Date | null;
}

export class Keys {
  readonly #context: AppContext;

  constructor(context: AppContext) {
    this.#context = context;
  }

  /** Up to `limit` unrevoked keys after the key `after`, newest first: all for admins, for others their own. */
  list(caller: Caller, limit: number, after: string | null): Promise<KeyState[]> {
    return this.#context.stores.keys.list(ownerOf(caller), limit, after);
  }

  /**
   * Creates a key and returns its secret, which is shown only once. A key created by an earlier attempt gets a new
   * secret. Throws `request_invalid`, and `forbidden` if the key could do more than the caller.
   */
  async create(
    caller: Caller,
    asked: CreateKey,
    { resourceId: id, earlier }: Attempt,
  ): Promise<{ stored: KeyState; key: string }> {
    const { stores } = this.#context;
    const { key, ...secret } = createKey(asked.kind);
    const made = earlier === "none" ? null : await stores.keys.replaceSecret(caller.accountId, id, secret);
    if (made) return { stored: made, key };
    const found = await stores.agents.byNames(caller.accountId, asked.agents ?? []);
    const named = found.filter((agent) => accessTo(agent, caller) === "all");
    const stored = { id, ...newKey(caller, asked, named, new Date()), ...secret };
    await stores.keys.insert(stored);
    return { stored, key };
  }

  /** Revokes a key permanently: any for admins, for others one of their own. False if there is no such key. */
  revoke(caller: Caller, id: string): Promise<boolean> {
    return this.#context.stores.keys.revoke(ownerOf(caller), id);
  }
}

function ownerOf({ accountId, personId, role }: Caller): KeyOwner {
  return allows(role, "manage") ? { accountId } : { accountId, maker: personId };
}

/**
 * The requested key, without its secret. The caller may use `agents`. Throws `request_invalid`, and
 * `forbidden` if the key could do more than the caller.
 */
function newKey(
  caller: Caller,
  asked: CreateKey,
  agents: readonly { id: string; name: string }[],
  now: Date,
): Omit<KeyState, "id" | "prefix" | "hash"> {
  const { kind, name = null, creditLimit = null } = asked;
  return {
    accountId: caller.accountId,
    personId: caller.personId,
    role: newRole(caller, asked),
    name,
    kind,
    agents: agentsOf(asked, agents),
    creditLimitMicro: creditLimit === null ? null : limitOf(kind, creditLimit),
    createdAt: now,
    lastUsedAt: null,
    expiresAt: expiryOf(caller, asked, now),
  };
}

function newRole({ role: own }: Caller, { kind, role }: CreateKey): Role {
  if (role !== undefined && kind === "agent") {
    throw new BerthError("request_invalid", "role: a key of kind `agent` has none; it can only chat.");
  }
  if (kind === "agent") return lesserRole(own, "member");
  if (role !== undefined && !isWithin(role, own)) {
    throw new BerthError("forbidden", `Your role in this workspace is ${own}: a key of yours cannot be ${role}.`);
  }
  return role ?? own;
}

function agentsOf({ kind, agents: names }: CreateKey, agents: readonly { id: string; name: string }[]) {
  if (kind === "full") {
    if (names) throw new BerthError("request_invalid", "agents: only keys of kind `agent` can be limited to agents.");
    return null;
  }
  if (!names) throw new BerthError("request_invalid", "agents: a key of kind `agent` needs at least one agent.");
  return [...new Set(names)].map((name) => {
    const agent = agents.find((each) => each.name === name);
    if (!agent) throw new BerthError("request_invalid", `agents: there is no agent ${name}.`);
    return { id: agent.id, name };
  });
}

function limitOf(kind: CreateKey["kind"], creditLimit: string): number {
  if (kind === "agent") return fromCredits(creditLimit);
  throw new BerthError("request_invalid", "creditLimit: only keys of kind `agent` can have their own limit.");
}

/** A new key must not outlive the caller's: an expiring key could otherwise replace itself. */
function expiryOf(caller: Caller, { expiresAt }: CreateKey, now: Date): Date | null {
  const expiry = expiresAt ? new Date(expiresAt) : null;
  if (expiry && expiry <= now) throw new BerthError("request_invalid", "expiresAt: this time is in the past.");
  const last = caller.expiresAt;
  if (last && (!expiry || expiry > last)) {
    const until = last.toISOString();
    throw new BerthError(
      "forbidden",
      `A key cannot outlive the key that creates it: set \`expiresAt\` to ${until} or earlier.`,
    );
  }
  return expiry;
}

/** The key as its owner sees it. */
export function toKeyView(key: KeyState): KeyRecord {
  return {
    id: key.id,
    name: key.name,
    kind: key.kind,
    role: key.role,
    keyPrefix: key.prefix,
    agents: key.agents?.map(({ name }) => name) ?? null,
    creditLimit: key.creditLimitMicro === null ? null : toCredits(key.creditLimitMicro),
    createdAt: key.createdAt.toISOString(),
    lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
    expiresAt: key.expiresAt?.toISOString() ?? null,
  };
}
