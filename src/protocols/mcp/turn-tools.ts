import { randomUUID } from "node:crypto";
import type { AgentState } from "../../agents/agent.ts";
import { hasEnded } from "../../contract/chat.ts";
import {
  AskAgentArguments,
  CancelTurnArguments,
  GetTurnArguments,
  StartTurnArguments,
  TurnSummary,
} from "../../contract/mcp.ts";
import { routes } from "../../contract/routes.ts";
import { requireOwnTurn } from "../../core/http/authorize.ts";
import type { PastTurn, TurnState } from "../../turns/turn.ts";
import type { Turns } from "../../turns/turns.ts";
import { type Tool, type ToolCall, tool } from "./tool.ts";

/** How long `ask_agent` waits for a client that times out after a minute, and for one that receives progress. */
const usualWaitSeconds = { silent: 50, told: 1_800 };

/** The note to a model about a truncated reply. */
export const longerNote = "(The reply was truncated; this is its beginning.)";

const changing = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };

/** Tools that send messages to agents and read the replies. */
export function turnTools(turns: Turns): Tool[] {
  return [askAgent(turns), startTurn(turns), getTurn(turns), cancelTurn(turns)];
}

function askAgent(turns: Turns): Tool {
  return tool({
    name: "ask_agent",
    title: "Ask an agent",
    description:
      "Sends a message to an agent and waits for its reply. The agent has one conversation, which continues from message to message. If the reply takes longer than waitSeconds, the result has status running: call get_turn with its turnId. The turn continues without a reader; cancel_turn ends it.",
    route: routes.chat,
    input: AskAgentArguments,
    output: TurnSummary,
    annotations: changing,
    run: async ({ agent: name, message, waitSeconds }, call) => {
      const usual = call.progress.isWanted ? usualWaitSeconds.told : usualWaitSeconds.silent;
      const { agent, turn } = await begin(turns, name, message, call);
      await wait(turns, turn, waitSeconds ?? usual, call);
      return answerOf(agent, await turns.past.read(agent.id, turn.id));
    },
  });
}

function startTurn(turns: Turns): Tool {
  return tool({
    name: "start_turn",
    title: "Start a turn",
    description: "Sends a message to an agent and returns immediately with the turn's id. get_turn returns the reply.",
    route: routes.chat,
    input: StartTurnArguments,
    output: TurnSummary,
    annotations: changing,
    run: async ({ agent: name, message }, call) => {
      const { agent, turn } = await begin(turns, name, message, call);
      return answerOf(agent, await turns.past.read(agent.id, turn.id));
    },
  });
}

function getTurn(turns: Turns): Tool {
  return tool({
    name: "get_turn",
    title: "Read a turn",
    description: "Returns a turn's status and its reply so far. With waitSeconds, waits for the turn to end first.",
    route: routes.getTurn,
    input: GetTurnArguments,
    output: TurnSummary,
    annotations: { readOnlyHint: true, openWorldHint: false },
    run: async ({ agent: name, turnId, waitSeconds = 0 }, call) => {
      const { agent, turn } = await find(turns, name, turnId, call);
      if (waitSeconds > 0) {
        await wait(turns, turn, waitSeconds, call);
      }
      return answerOf(agent, await turns.past.read(agent.id, turn.id));
    },
  });
}

function cancelTurn(turns: Turns): Tool {
  return tool({
    name: "cancel_turn",
    title: "Cancel a turn",
    description: "Interrupts a running turn. The agent's work so far is kept.",
    route: routes.cancelTurn,
    input: CancelTurnArguments,
    output: TurnSummary,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    run: async ({ agent: name, turnId }, call) => {
      const { agent, turn } = await find(turns, name, turnId, call);
      await turns.cancel(agent, turn);
      return { result: toSummary(agent, await turns.past.read(agent.id, turn.id)) };
    },
  });
}

async function begin(turns: Turns, name: string, message: string, { operation, caller, carrier }: ToolCall) {
  const agent = await operation.findAgent(name);
  const turn = await turns.begin(randomUUID(), agent, message, caller);
  carrier.request.log.info({ turnId: turn.id, agentId: agent.id }, "turn begun");
  await operation.begun();
  return { agent, turn };
}

async function find(turns: Turns, name: string, turnId: string, { operation, caller }: ToolCall) {
  const agent = await operation.findAgent(name);
  const turn = await turns.find(agent.id, turnId);
  requireOwnTurn(caller, turn);
  return { agent, turn };
}

async function wait(turns: Turns, turn: TurnState, seconds: number, { gone, progress }: ToolCall): Promise<void> {
  const over = AbortSignal.any([gone, AbortSignal.timeout(seconds * 1000)]);
  for await (const batch of turns.events.follow(turn, 0, over)) {
    for (const { event } of batch) progress.note(event);
  }
}

function toSummary({ name }: AgentState, turn: PastTurn): TurnSummary {
  const { id, status, reply, replyTruncated, error, createdAt, finishedAt } = turn;
  return {
    agent: name,
    turnId: id,
    status,
    reply,
    replyTruncated,
    error,
    createdAt: createdAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
  };
}

/** The reply, and a note for the model. */
function answerOf(agent: AgentState, turn: PastTurn) {
  const { id, status, reply, replyTruncated, error } = turn;
  const notes = [
    replyTruncated ? longerNote : "",
    hasEnded(status) ? "" : `The turn ${id} is still ${status}: call get_turn.`,
    status === "cancelled" ? "The turn was cancelled." : "",
    error === null ? "" : `The turn failed: ${error.code}: ${error.message}`,
  ];
  const text = [reply, ...notes].filter((part) => part !== "").join("\n\n");
  return { result: toSummary(agent, turn), text, failed: status === "failed" };
}
