import type { Fault } from "../contract/agents.ts";
import type { TurnRecord, TurnStatus } from "../contract/chat.ts";
import { BerthError } from "../contract/errors.ts";
import { toUsage, type UsageState } from "./usage.ts";

/** A turn as the service keeps it. */
export interface TurnState {
  id: string;
  agentId: string;
  /** The key with which it was begun; null for one who has signed in, and once the key's record is gone. */
  keyId: string | null;
  /** 1, 2, …: which of the agent's conversations it belongs to. */
  conversation: number;
  message: string;
  /** The model that is asked; null: the runtime's own default. */
  model: string | null;
  status: TurnStatus;
  usage: UsageState;
}

/** A turn as the history has it. */
export interface PastTurn extends TurnState {
  /** The reply's text that has come, or its beginning. */
  reply: string;
  replyTruncated: boolean;
  error: Fault | null;
  createdAt: Date;
  finishedAt: Date | null;
}

/** The turn as its agent's owner sees it. */
export function toTurnView({ agentId: _, keyId: _key, createdAt, finishedAt, usage, ...turn }: PastTurn): TurnRecord {
  return {
    ...turn,
    usage: toUsage(usage),
    createdAt: createdAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
  };
}

/** The refusal of what an agent that answers a message cannot do; `turnId` is the running turn's. */
export function turnInProgress(turnId: string | null): BerthError {
  return new BerthError("turn_in_progress", "The agent is answering another message.", { details: { turnId } });
}
