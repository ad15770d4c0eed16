import type { AgentState } from "../agents/agent.ts";
import { toUsage, type UsageState } from "../billing/usage.ts";
import type { Fault } from "../contract/agents.ts";
import type { Author } from "../contract/authors.ts";
import { summaryCharacters, type TurnRecord, type TurnStatus, type TurnSummary } from "../contract/chat.ts";
import { BerthError } from "../contract/errors.ts";
import type { ClientFunction } from "../contract/functions.ts";

export interface TurnState {
  id: string;
  agentId: string;
  /** The key that started it; null for a signed-in user, and once the key's record is deleted. */
  keyId: string | null;
  /** The signed-in person, or the key's maker; for a turn that another agent started, those of the turn at the root. */
  personId: string | null;
  /** The number of the agent's conversation: 1, 2, …. */
  conversation: number;
  message: string;
  /** The request's addition to the agent's instructions; null: none. */
  instructions: string | null;
  /** Functions of its client that the agent may call as tools; null: none. */
  functions: ClientFunction[] | null;
  /** The model; null: the runtime's default. */
  model: string | null;
  status: TurnStatus;
  usage: UsageState;
  /** When it was queued; null: it began at once. */
  queuedAt: Date | null;
  /** The agent that started it; null: a client did. */
  asked: Asked | null;
}

/** The origin of a turn that another agent started. */
interface Asked {
  /** The calling turn. */
  byTurn: string;
  /** The client's turn at the root. */
  firstTurn: string;
  /** The depth: 1 if a client's turn made the call. */
  depth: number;
}

/** A turn in the history. */
export interface PastTurn extends TurnState {
  /** The reply's text so far, or its beginning. */
  reply: string;
  replyTruncated: boolean;
  error: Fault | null;
  /** The agent whose turn started this one; null if a client did, or once that agent is deleted. */
  askedBy: { agent: string; turnId: string } | null;
  createdBy: Author | null;
  /** The agent was rolled back to a point before the turn's end. */
  undone: boolean;
  createdAt: Date;
  finishedAt: Date | null;
}

export function toTurnView({
  agentId: _,
  keyId: _key,
  personId: _person,
  instructions: _instructions,
  functions: _functions,
  asked: _asked,
  queuedAt,
  createdAt,
  finishedAt,
  usage,
  ...turn
}: PastTurn): TurnRecord {
  return {
    ...turn,
    usage: toUsage(usage),
    queuedAt: queuedAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
  };
}

/** A turn in the list of all of an account's agents. */
export interface RecentTurn
  extends Pick<PastTurn, "id" | "message" | "status" | "error" | "createdBy" | "createdAt" | "finishedAt"> {
  agent: string;
  /** The reply's beginning. */
  reply: string;
}

export function toTurnSummary({ message, reply, createdAt, finishedAt, ...turn }: RecentTurn): TurnSummary {
  return {
    ...turn,
    message: message.slice(0, summaryCharacters.message).toWellFormed(),
    reply: reply.slice(0, summaryCharacters.reply).toWellFormed(),
    createdAt: createdAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
  };
}

/** The error for an operation that an agent cannot do during a turn; `turnId` is the running turn's. */
export function turnInProgress(turnId: string | null): BerthError {
  return new BerthError("turn_in_progress", "The agent is answering another message.", { details: { turnId } });
}

/** The fields that a turn copies from its agent's row when it begins. */
export type AgentMoment = Pick<AgentState, "conversation" | "runtime" | "restores">;

/** The agent's conversation, runtime or snapshot has changed since its row was read. */
export class AgentChanged extends Error {}
