import type { Role } from "@berth/client";

/** The one with the most permissions first. Each has those of the next. */
export const roles: readonly Role[] = ["owner", "admin", "member", "viewer"];

/** Use agents; manage members, credits and all keys; own the workspace. */
export type Need = "use" | "manage" | "own";

/** The last role that has it. */
export const lastWith = { use: "member", manage: "admin", own: "owner" } as const satisfies Record<Need, Role>;

export function may(role: Role, need: Need): boolean {
  return isWithin(lastWith[need], role);
}

/** Whether a role has no permission that the other lacks. */
export function isWithin(role: Role, other: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(other);
}
