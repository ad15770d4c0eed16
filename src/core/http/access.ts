import { allows } from "../../contract/workspaces.ts";
import type { Caller } from "./caller.ts";

/** The part of a caller that decides which private agents it sees. */
export type Viewer = Pick<Caller, "accountId" | "personId" | "role">;

/** The part of an agent that decides who sees it. */
export interface Owned {
  /** Whether only its maker sees it. */
  private: boolean;
  /** Its maker; null: unknown, or a key without a maker. */
  personId: string | null;
}

/**
 * A caller's access to an agent of its workspace. `all`: what its role allows. `oversee`: see that it exists, suspend
 * and delete it. `none`: the agent does not exist for the caller.
 */
export type Access = "all" | "oversee" | "none";

/** Access to an agent that a list shows. */
export type ListedAccess = Exclude<Access, "none">;

/** A private agent belongs to its maker. A key counts as the person who made it; one without a maker is nobody. */
export function accessTo(agent: Owned, viewer: Viewer): Access {
  const { personId } = agent;
  if (!agent.private || (personId !== null && personId === viewer.personId)) return "all";
  return allows(viewer.role, "manage") ? "oversee" : "none";
}

/**
 * Whether an agent may call another one: a caller's transcript shows the replies, so a private agent is called by private
 * agents of its maker alone.
 */
export function mayCall(calling: Pick<Owned, "private">, called: Owned, maker: Pick<Owned, "personId">): boolean {
  return !called.private || (calling.private && called.personId !== null && called.personId === maker.personId);
}
