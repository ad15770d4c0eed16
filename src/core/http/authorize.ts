import { BerthError } from "../../contract/errors.ts";
import type { Credential } from "../../contract/keys.ts";
import type { Permission, Route } from "../../contract/route.ts";
import { allows, type Need, roles } from "../../contract/workspaces.ts";
import { type Caller, mayUseTurn } from "./caller.ts";

export function requirePermission({ operation, permission }: Route, caller: Caller): void {
  if (permission === "public") return;
  const rule = permission[caller.credential];
  const isAllowed = rule === "all" || rule === "named" || (rule === "operator" && caller.operator);
  if (!isAllowed) throw new BerthError("forbidden", `${reasonFor(caller, rule)}: ${operation}.`);
  requireRole(caller, permission.needs, operation);
}

/** Throws `forbidden` if the caller's role in the workspace does not allow the operation. */
export function requireRole({ role }: Caller, need: Need, operation: string): void {
  if (allows(role, need)) return;
  const allowed = roles.filter((each) => allows(each, need)).join(", ");
  const message = `Your role in this workspace is ${role}. This needs one of these roles: ${allowed} (${operation}).`;
  throw new BerthError("forbidden", message);
}

function reasonFor({ credential }: Caller, rule: Permission[Credential]): string {
  if (credential === "agent") return "An external agent key may not do this";
  if (rule === "operator") return "An account that is not the operator's may not do this";
  return "This is for people who have signed in, not for keys";
}

export function requireNamed(caller: Caller, agent: { id: string; name: string }): void {
  if (caller.agentIds === null || caller.agentIds.includes(agent.id)) return;
  throw new BerthError("forbidden", `This key is not for the agent ${agent.name}.`);
}

export function requireOwnTurn(caller: Caller, turn: { keyId: string | null }): void {
  if (mayUseTurn(caller, turn)) return;
  throw new BerthError("forbidden", "This key has not begun this turn.");
}
