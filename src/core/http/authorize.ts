import { BerthError } from "../../contract/errors.ts";
import type { Route } from "../../contract/route.ts";
import { type Caller, mayUseTurn } from "./caller.ts";

export function requirePermission({ operation, permission }: Route, caller: Caller): void {
  if (permission === "public") return;
  const rule = permission[caller.credential];
  if (rule === "all" || rule === "named" || (rule === "operator" && caller.operator)) return;
  const who = caller.credential === "agent" ? "An external agent key" : "An account that is not the operator's";
  throw new BerthError("forbidden", `${who} may not do this: ${operation}.`);
}

export function requireNamed(caller: Caller, agent: { id: string; name: string }): void {
  if (caller.agentIds === null || caller.agentIds.includes(agent.id)) return;
  throw new BerthError("forbidden", `This key is not for the agent ${agent.name}.`);
}

export function requireOwnTurn(caller: Caller, turn: { keyId: string | null }): void {
  if (mayUseTurn(caller, turn)) return;
  throw new BerthError("forbidden", "This key has not begun this turn.");
}
