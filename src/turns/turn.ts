import type { AgentState } from "../agents/agent.ts";
import { toUsage, type UsageState } from "../billing/usage.ts";
import type { Fault } from "../contract/agents.ts";
import type { Author } from "../contract/authors.ts";
import type { TurnChanges } from "../contract/changes.ts";
import { type OnAsk, summaryCharacters, type TurnRecord, type TurnStatus, type TurnSummary } from "../contract/chat.ts";
import type { Effort } from "../contract/effort.ts";
import { BerthError } from "../contract/errors.ts";
import type { ClientFunction } from "../contract/functions.ts";
import { isUuid } from "../contract/ids.ts";
import type { AskedLimits } from "../contract/limits.ts";
import type { OutputSchema, OutputValue } from "../contract/output.ts";
import type { Attachment } from "../contract/uploads.ts";

export interface TurnState {
  id: string;
  agentId: string;
  /** The key that started it; null for a signed-in user, and once the key's record is deleted. */
  keyId: string | null;
  /** The signed-in person, or the key's maker; for a turn that another agent started, those of the turn at the root. */
  personId: string | null;
  /** The number of its conversation: 1, 2, …. */
  conversation: number;
  /** Whether it is for this conversation also if another one is current when it begins. */
  namesConversation: boolean;
  message: string;
  /** The images and files of the message. */
  attachments: Attachment[];
  /** The request's addition to the agent's instructions; null: none. */
  instructions: string | null;
  /** Functions of its client that the agent may call as tools; null: none. */
  functions: ClientFunction[] | null;
  /** The model; null: the runtime's default. */
  model: string | null;
  /** The message's own effort; null: the agent's. */
  effort: Effort | null;
  status: TurnStatus;
  usage: UsageState;
  /** The treatment of tools that the agent's permissions ask about. */
  onAsk: OnAsk;
  /** The request's own limits; null: none. The agent's apply, too. */
  limits: AskedLimits | null;
  /** The schema of the output that it has to end with; null: it has none. */
  outputSchema: OutputSchema | null;
  /** Whether it runs and waits for an approval. */
  waiting: boolean;
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
  /** The output that it ended with; null: none. */
  output: OutputValue | null;
  /** The files that it changed; null: not known. */
  changes: TurnChanges | null;
  /** The agent whose turn started this one; null if a client did, or once that agent is deleted. */
  askedBy: { agent: string; turnId: string } | null;
  createdBy: Author | null;
  /** The agent was rolled back to a point before the turn's end. */
  undone: boolean;
  createdAt: Date;
  finishedAt: Date | null;
}

export function toTurnView(past: PastTurn): TurnRecord {
  const { id, conversation, message, attachments, reply, replyTruncated, output, error, model, effort } = past;
  const { askedBy, createdBy, undone, changes } = past;
  const status = shownStatus(past);
  return {
    ...{ id, conversation, message, attachments, reply, replyTruncated, output, error, model, effort },
    ...{ askedBy, createdBy, undone, changes },
    status,
    reason: status === "waiting" ? "approval" : null,
    usage: toUsage(past.usage),
    queuedAt: past.queuedAt?.toISOString() ?? null,
    createdAt: past.createdAt.toISOString(),
    finishedAt: past.finishedAt?.toISOString() ?? null,
  };
}

/** The status for readers: a running turn may wait for an approval. */
export function shownStatus({ status, waiting }: Pick<TurnState, "status" | "waiting">): TurnStatus {
  return status === "running" && waiting ? "waiting" : status;
}

/** A turn in the list of all of an account's agents. */
export interface RecentTurn
  extends Pick<PastTurn, "id" | "message" | "status" | "waiting" | "error" | "createdBy" | "createdAt" | "finishedAt"> {
  agent: string;
  /** The reply's beginning. */
  reply: string;
}

export function toTurnSummary({ message, reply, waiting, createdAt, finishedAt, ...turn }: RecentTurn): TurnSummary {
  return {
    ...turn,
    status: shownStatus({ status: turn.status, waiting }),
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

/** Throws `turn_not_found`. */
export function noTurn(turnId: string): never {
  throw new BerthError("turn_not_found", `The agent has no turn ${isUuid(turnId) ? turnId : "with this id"}.`);
}

/** The fields that a turn copies from its agent's row when it begins. */
export type AgentMoment = Pick<AgentState, "conversation" | "runtime" | "restores">;

/** The agent's conversation, runtime or snapshot has changed since its row was read. */
export class AgentChanged extends Error {}
