import { randomUUID } from "node:crypto";
import type { InputRequiredResult } from "@modelcontextprotocol/server";
import type { AgentState } from "../../agents/agent.ts";
import type { AppContext } from "../../context.ts";
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
import { answerApprovals } from "./elicitation.ts";
import { taskFields } from "./task-state.ts";
import { type Tool, type ToolCall, tool } from "./tool.ts";

/** How long `ask_agent` waits for a client that times out after a minute, and for one that receives progress. */
const usualWaitSeconds = { silent: 50, told: 1_800 };

/** The note to a model about a truncated reply. */
export const longerNote = "(The reply was truncated; this is its beginning.)";

const changing = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };

/** Tools that send messages to agents and read the replies. */
export function turnTools(context: AppContext): Tool[] {
  const { turns } = context;
  return [askAgent(context), startTurn(turns), getTurn(context), cancelTurn(turns)];
}

function askAgent(context: AppContext): Tool {
  const { turns } = context;
  return tool({
    name: "ask_agent",
    title: "Ask an agent",
    description:
      "Sends a message to an agent and waits for its reply. The agent has one conversation, which continues from message to message. If the reply takes longer than waitSeconds, the result has status running: call get_turn with its turnId. The turn continues without a reader; cancel_turn ends it.",
    route: routes.chat,
    input: AskAgentArguments,
    output: TurnSummary,
    annotations: changing,
    takesTasks: true,
    run: async ({ agent: name, message, waitSeconds }, call) => {
      const { client, elicitation, progress, carrier } = call;
      const usual = progress.isWanted ? usualWaitSeconds.told : usualWaitSeconds.silent;
      const continued = elicitation?.continued ?? null;
      const { agent, turn } = await (continued === null
        ? begin(turns, name, message, call)
        : find(turns, name, continued, call));
      if (continued === null && client.takesTask && (waitSeconds === undefined || !client.isModern)) {
        const past = await turns.past.read(agent.id, turn.id);
        return { ...answerOf(agent, past), task: taskFields({ agent: name, turnId: turn.id }, past, client) };
      }
      const place = { agent: name, turnId: turn.id };
      const isDecided = continued === null || (await answerApprovals(context, carrier, place, elicitation!.responses));
      const asks = isDecided ? await waitForTurn(context, turn, waitSeconds ?? usual, call) : null;
      return asks ?? answerOf(agent, await turns.past.read(agent.id, turn.id));
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

function getTurn({ turns, approvals }: AppContext): Tool {
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
      // Repeated calls of this tool have nothing to continue: its client asks its user by `ask_agent` and by tasks.
      if (waitSeconds > 0) await waitForTurn({ turns, approvals }, turn, waitSeconds, { ...call, elicitation: null });
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

async function begin(turns: Turns, name: string, message: string, call: ToolCall) {
  const { operation, caller, carrier, elicitation } = call;
  const agent = await operation.findAgent(name);
  const turn = await turns.begin(randomUUID(), agent, message, caller, { onAsk: elicitation ? "wait" : "deny" });
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

/**
 * Waits for a turn's end, or so many seconds. In the meantime the user is asked about approvals, if the client shows forms:
 * in its call's stream, or else by the returned result.
 */
export async function waitForTurn(
  { turns, approvals }: Pick<AppContext, "turns" | "approvals">,
  turn: TurnState,
  seconds: number,
  { gone, progress, elicitation }: Pick<ToolCall, "gone" | "progress" | "elicitation">,
): Promise<InputRequiredResult | null> {
  const over = AbortSignal.any([gone, AbortSignal.timeout(seconds * 1000)]);
  for await (const batch of turns.events.follow(turn, 0, over)) {
    for (const { event } of batch) progress.note(event);
    const mayWait = elicitation && batch.some(({ event }) => event.type === "response.approval.requested");
    const open = mayWait ? await approvals.firstOpen(turn) : null;
    const asks = open && (await elicitation!.ask(open));
    if (asks) return asks;
  }
  return null;
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
export function answerOf(agent: AgentState, turn: PastTurn) {
  const { id, status, reply, replyTruncated, error } = turn;
  const notes = [
    replyTruncated ? longerNote : "",
    hasEnded(status) ? "" : `The turn ${id} is still ${status}: call get_turn.`,
    turn.waiting ? "It waits until a person allows or denies the use of a tool." : "",
    status === "cancelled" ? "The turn was cancelled." : "",
    error === null ? "" : `The turn failed: ${error.code}: ${error.message}`,
  ];
  const text = [reply, ...notes].filter((part) => part !== "").join("\n\n");
  return { result: toSummary(agent, turn), text, failed: status === "failed" };
}
