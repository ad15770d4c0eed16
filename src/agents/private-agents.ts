import { type Agent, usualSettings } from "../contract/agents.ts";
import { BerthError } from "../contract/errors.ts";
import { allows } from "../contract/workspaces.ts";
import { accessTo, type Viewer } from "../core/http/access.ts";
import type { Caller } from "../core/http/caller.ts";
import type { AgentState } from "./agent.ts";

/** The part of a caller that decides what it sees of an agent. */
export type ViewingCaller = Viewer & Pick<Caller, "credential">;

/** The error for owners and admins of a workspace, who know that the agent exists. */
export function privateError({ name, personName }: AgentState): BerthError {
  const maker = personName === null ? "its maker" : `its maker, ${personName}`;
  return new BerthError("agent_private", `The agent ${name} is private: only ${maker}, may do this.`);
}

/** Throws `request_invalid` if nobody would see the agent once it is private. */
export function requireMaker(personId: string | null): void {
  if (personId !== null) return;
  const message =
    "private: the agent has no maker who could use it. Create it signed in, or with a key that a person has made.";
  throw new BerthError("request_invalid", message);
}

/** Throws `forbidden` if the caller may not change who sees the agent. */
export function requireOwn({ name, personId, personName }: AgentState, viewer: Viewer): void {
  requireMaker(personId);
  if (personId === viewer.personId) return;
  const message = `private: only the maker of the agent ${name}${personName === null ? "" : `, ${personName},`} may change this.`;
  throw new BerthError("forbidden", message);
}

/**
 * The part of the view that the caller may see. Settings, which may contain credentials, and people's names are hidden from
 * external agent keys. MCP servers, which name secrets, are hidden from viewers. Of another person's private agent, owners and admins see
 * its name, maker, machine and status. Others do not see that it is the source of a fork.
 */
export function viewFor(caller: ViewingCaller, agent: AgentState, full: Agent): Agent {
  if (accessTo(agent, caller) !== "all") return overseen(full);
  const { privateSource: source } = agent;
  const view = source && accessTo(source, caller) === "none" ? { ...full, forkedFrom: null } : full;
  if (caller.credential === "agent") {
    const { instructions, acp, mcpServers, agents, permissions } = usualSettings;
    return { ...view, maker: null, instructions, acp, mcpServers, agents, permissions };
  }
  return allows(caller.role, "use") ? view : { ...view, acp: usualSettings.acp, mcpServers: {} };
}

function overseen(view: Agent): Agent {
  const error = view.error && { ...view.error, message: "Only the agent's maker sees the reason." };
  const hidden = { conversation: 1, forkedFrom: null, importedFrom: null, image: null };
  return { ...view, ...usualSettings, ...hidden, private: true, error };
}

/** Throws `request_invalid` if an agent that is not private would name a private one, and show its replies. */
export function requirePublic(called: readonly Pick<AgentState, "name" | "private">[]): void {
  const closed = called.find((agent) => agent.private);
  if (closed === undefined) return;
  const message = `agents: ${closed.name} is private. Only private agents of its maker may call it: set \`private\`, or leave it out.`;
  throw new BerthError("request_invalid", message);
}
