import { BerthError } from "../contract/errors.ts";
import type { Caller, Credential } from "../service/caller.ts";

/**
 * `all`: of what the account has. `named`: only of the agents that the key names. `operator`: only where the account is
 * the operator's. `no`: 403.
 */
type Rule = "all" | "named" | "operator" | "no";

const account: Record<Credential, Rule> = { full: "all", token: "all", agent: "no" };
const chatting: Record<Credential, Rule> = { full: "all", token: "all", agent: "named" };

const operator: Record<Credential, Rule> = { full: "operator", token: "operator", agent: "no" };

/**
 * Who may do what: each operation of the interface that needs credentials, with the rule for each of them. A route that
 * is not in here does not start.
 */
export const permissions: Readonly<Record<string, Readonly<Record<Credential, Rule>>>> = {
  "GET /agents": chatting,
  "POST /agents": account,
  "GET /agents/{name}": chatting,
  "PATCH /agents/{name}": account,
  "DELETE /agents/{name}": account,
  "GET /agents/{name}/install-status": account,
  "GET /agents/{name}/logs": account,
  "POST /agents/{name}/suspend": account,
  "POST /agents/{name}/resume": account,
  "POST /agents/{name}/restart": account,
  "POST /agents/{name}/conversation/reset": account,
  "GET /agents/{name}/network": account,
  "PUT /agents/{name}/network": account,
  "GET /agents/{name}/network/log": account,
  "POST /agents/{name}/chat": chatting,
  "GET /agents/{name}/turns": account,
  // Of an external agent key, only the turns that it has begun.
  "GET /agents/{name}/turns/{turnId}/events": chatting,
  "POST /agents/{name}/turns/{turnId}/cancel": chatting,
  "GET /agents/{name}/secrets": account,
  "PUT /agents/{name}/secrets/{secret}": account,
  "DELETE /agents/{name}/secrets/{secret}": account,
  "GET /models": account,
  "GET /runtimes": account,
  "GET /keys": account,
  "POST /keys": account,
  "DELETE /keys/{id}": account,
  "POST /billing/top-ups": account,
  "GET /audit": account,
  "GET /account": account,
  "GET /billing": account,
  "PATCH /billing": account,
  "GET /billing/entries": account,
  "GET /billing/usage": account,
  "GET /admin/users": operator,
  "POST /admin/users": operator,
  "POST /admin/users/{name}/reset": operator,
  "POST /admin/users/{name}/disable": operator,
  "POST /admin/users/{name}/enable": operator,
  "GET /admin/credits": operator,
  "POST /admin/credits/grants": operator,
};

/** Throws `forbidden` where the credential may not be used for the operation at all. */
export function requirePermission(operation: string, caller: Caller): void {
  const rule = permissions[operation]?.[caller.credential] ?? "no";
  if (rule === "all" || rule === "named" || (rule === "operator" && caller.operator)) return;
  const who = caller.credential === "agent" ? "An external agent key" : "An account that is not the operator's";
  throw new BerthError("forbidden", `${who} may not do this: ${operation}.`);
}

/** Throws `forbidden` for an agent of the caller's account that the credential does not name. */
export function requireNamed(caller: Caller, agent: { id: string; name: string }): void {
  if (caller.agentIds === null || caller.agentIds.includes(agent.id)) return;
  throw new BerthError("forbidden", `This key is not for the agent ${agent.name}.`);
}

/** Throws `forbidden` for a turn that an external agent key has not begun itself. */
export function requireOwnTurn(caller: Caller, turn: { keyId: string | null }): void {
  if (caller.agentIds === null || turn.keyId === caller.keyId) return;
  throw new BerthError("forbidden", "This key has not begun this turn.");
}
