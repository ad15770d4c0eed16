import { randomUUID } from "node:crypto";
import { createLink, hashLinkToken } from "../accounts/links.ts";
import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";
import { isUuid } from "../contract/ids.ts";
import { isWithin, type Role } from "../contract/workspaces.ts";
import type { Caller } from "../core/http/caller.ts";
import type { InvitationStore } from "./invitation-store.ts";
import type { WorkspaceStore } from "./store.ts";

/** How long an invitation is good. */
const invitationMs = 7 * 24 * 3_600_000;

/** A workspace as a member sees it. */
export interface WorkspaceState {
  id: string;
  name: string;
  /** Whether it is the person's personal workspace. */
  personal: boolean;
  role: Role;
  createdAt: Date;
}

export interface PersonState {
  id: string;
  name: string;
  email: string | null;
  emailVerified: boolean;
  timeZone: string | null;
  createdAt: Date;
  lastSeenAt: Date | null;
}

export interface MemberState {
  /** The person's. */
  id: string;
  name: string;
  email: string | null;
  role: Role;
  joinedAt: Date;
  lastSeenAt: Date | null;
}

export interface InvitationState {
  id: string;
  role: Role;
  email: string | null;
  createdAt: Date;
  expiresAt: Date;
}

/** Workspaces, their members and invitations. `caller.accountId` is the workspace that a call is about. */
export class Workspaces {
  readonly #rows: WorkspaceStore;
  readonly #invitations: InvitationStore;

  constructor(context: AppContext) {
    this.#rows = context.stores.workspaces;
    this.#invitations = context.stores.invitations;
  }

  /** Null for a key without a maker. */
  async person({ personId }: Caller): Promise<PersonState | null> {
    return personId === null ? null : this.#rows.person(personId);
  }

  /** The workspace of the request, with the caller's role. */
  async current(caller: Caller): Promise<WorkspaceState> {
    const { accountId, personId, role } = caller;
    const own = personId === null ? null : await this.#rows.find(personId, accountId);
    return { ...(own ?? { ...(await this.#rows.byId(accountId)), personal: false }), role };
  }

  /** All workspaces that the caller can choose: a key belongs to one. */
  async list(caller: Caller): Promise<WorkspaceState[]> {
    return caller.token === null ? [await this.current(caller)] : this.#rows.ofPerson(caller.personId!);
  }

  /** `id`: the request's, so that a repeated one creates nothing. Throws `workspace_exists`, `too_many_workspaces`. */
  async create({ personId }: Caller, name: string, id: string): Promise<WorkspaceState> {
    const earlier = await this.#rows.find(personId!, id);
    if (!earlier) await this.#rows.create(id, personId!, name);
    return (await this.#rows.find(personId!, id))!;
  }

  /** Throws `workspace_exists`. */
  async rename(caller: Caller, name: string): Promise<WorkspaceState> {
    await this.#rows.rename(caller.accountId, name);
    return this.current(caller);
  }

  /**
   * With `force`, a workspace with agents is disabled and kept. Returns whether it was kept. Throws
   * `workspace_is_personal`, `workspace_not_empty`.
   */
  remove({ accountId }: Caller, options: { force: boolean }): Promise<boolean> {
    return this.#rows.remove(accountId, options);
  }

  /** Up to `limit` members after the cursor `PERSON@MILLISECONDS`, oldest first. */
  members({ accountId }: Caller, limit: number, after: string | null): Promise<MemberState[]> {
    return this.#rows.members(accountId, limit, after);
  }

  /** Throws `member_not_found`, `forbidden`, `last_owner`, `workspace_is_personal`. */
  async setRole({ accountId, role: own }: Caller, personId: string, role: Role): Promise<MemberState> {
    return this.#rows.setRole(accountId, requireId(personId), role, own);
  }

  /** Removes a member; members may remove themselves. Throws as `setRole`. */
  async removeMember({ accountId, personId: own, role }: Caller, personId: string): Promise<void> {
    const isOwn = own === personId;
    if (!isOwn && !isWithin("admin", role)) {
      throw new BerthError("forbidden", `Your role in this workspace is ${role}: you can remove only yourself.`);
    }
    await this.#rows.removeMember(accountId, requireId(personId), role);
  }

  invitations({ accountId }: Caller): Promise<InvitationState[]> {
    return this.#invitations.list(accountId);
  }

  /** Returns the invitation with its token. Throws `forbidden` for a role above the caller's, `too_many_invitations`. */
  async invite(
    { accountId, personId, role: own }: Caller,
    { role, email = null }: { role: Role; email?: string | null | undefined },
  ): Promise<{ invitation: InvitationState; token: string }> {
    if (!isWithin(role, own)) {
      throw new BerthError("forbidden", `Your role in this workspace is ${own}: you cannot invite an ${role}.`);
    }
    const { token, tokenHash, expiresAt } = createLink(invitationMs);
    const createdAt = new Date(expiresAt.getTime() - invitationMs);
    const invitation = { id: randomUUID(), role, email, createdAt, expiresAt };
    await this.#invitations.insert(accountId, personId, tokenHash, invitation);
    return { invitation, token };
  }

  /** Throws `invitation_not_found`. */
  async revokeInvitation({ accountId }: Caller, id: string): Promise<void> {
    if (isUuid(id) && (await this.#invitations.revoke(accountId, id))) return;
    throw new BerthError("invitation_not_found", "The workspace has no such open invitation.");
  }

  /** Joins the workspace of an invitation. Throws as `InvitationStore.accept`. */
  async accept({ personId }: Caller, token: string): Promise<WorkspaceState> {
    const accountId = await this.#invitations.accept(hashLinkToken(token), personId!);
    return (await this.#rows.find(personId!, accountId))!;
  }
}

function requireId(personId: string): string {
  if (isUuid(personId)) return personId;
  throw new BerthError("member_not_found", "The workspace has no such member.");
}
