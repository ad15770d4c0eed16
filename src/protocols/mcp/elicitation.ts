import {
  type InputRequiredResult,
  inputRequired,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import type { ApprovalState } from "../../approvals/store.ts";
import type { AppContext } from "../../context.ts";
import { Decision } from "../../contract/approval-fields.ts";
import { BerthError } from "../../contract/errors.ts";
import { type TaskPlace, taskIdOf } from "../../contract/mcp-tasks.ts";
import { ruleFor } from "../../contract/permissions.ts";
import { routes } from "../../contract/routes.ts";
import { requireOwnTurn } from "../../core/http/authorize.ts";
import type { Carrier } from "../carried-operations.ts";
import type { McpClient } from "./mcp-client.ts";

/** How much of an approval's text a form shows, in characters. */
const shownCharacters = 2_000;

/** A user's answer to a form. Clients send anything. */
const Answer = z.object({
  action: z.enum(["accept", "decline", "cancel"]),
  content: z.object({ decision: Decision }).nullish().catch(null),
});

/** The state at the client between its requests. */
const State = z.object({ turnId: z.uuid() });

/** Approvals as forms for the user of a call's client. */
export class Elicitation {
  readonly #server: McpServer;
  readonly #request: ServerContext["mcpReq"];
  readonly #isModern: boolean;
  readonly #asked = new Set<string>();

  constructor(server: McpServer, request: ServerContext["mcpReq"], { isModern }: McpClient) {
    this.#server = server;
    this.#request = request;
    this.#isModern = isModern;
  }

  /**
   * Asks the user, once. A client of 2026-07-28 gets a result that asks, and repeats its call with the answer. An earlier
   * one gets a request in the stream of its call, and null is returned.
   */
  async ask(approval: ApprovalState): Promise<InputRequiredResult | null> {
    const { id, agent, turnId } = approval;
    if (this.#isModern) {
      const { method: _, params } = elicitationOf(approval);
      const inputRequests = { [id]: inputRequired.elicit(params) };
      return inputRequired({ inputRequests, requestState: JSON.stringify({ turnId }) });
    }
    if (this.#asked.has(id)) return null;
    this.#asked.add(id);
    const message = { jsonrpc: "2.0" as const, id: `${taskIdOf({ agent, turnId })}.${id}`, ...elicitationOf(approval) };
    // The client may have disconnected: the approval stays open.
    await this.#server.server.transport?.send(message, { relatedRequestId: this.#request.id }).catch(() => {});
    return null;
  }

  /** The turn that a repeated call continues; null for a new call. Throws `request_invalid`. */
  get continued(): string | null {
    const text = this.#request.requestState();
    if (text === undefined) return null;
    const state = State.safeParse(jsonOf(String(text)));
    if (state.success) return state.data.turnId;
    throw new BerthError("request_invalid", "requestState: not from this service.");
  }

  get responses(): Record<string, unknown> {
    return this.#request.inputResponses ?? {};
  }
}

/** The request for a form that answers an approval. */
export function elicitationOf(approval: ApprovalState) {
  const { agent, title, kind, subject } = approval;
  const about = subject === null || subject === title ? "" : `\n\n${subject}`;
  const text = `The agent ${agent} asks for permission (${kind}): ${title}${about}`;
  const decisions = Decision.options.filter((decision) => decision !== "allow-always" || ruleFor(approval));
  const decision = { type: "string" as const, title: "Decision", enum: [...decisions] };
  return {
    method: "elicitation/create" as const,
    params: {
      mode: "form" as const,
      message: text.slice(0, shownCharacters).toWellFormed(),
      requestedSchema: { type: "object" as const, properties: { decision }, required: ["decision"] },
    },
  };
}

/** Null: the user has not decided, and the approval stays open. */
function decisionIn(response: unknown): Decision | null {
  const { action, content } = Answer.safeParse(response).data ?? {};
  if (action === "decline") return "deny";
  return action === "accept" ? (content?.decision ?? null) : null;
}

/**
 * Answers approvals of a turn by what users have entered, by their ids. Each is an operation of the API. Answers to
 * approvals that somebody has answered, or that are over, are left out. Returns whether all have a decision.
 */
export async function answerApprovals(
  { operations, turns, approvals }: AppContext,
  carrier: Carrier,
  { agent: name, turnId }: TaskPlace,
  responses: Record<string, unknown>,
): Promise<boolean> {
  const { caller } = carrier.request;
  let isDecided = true;
  for (const [id, response] of Object.entries(responses).slice(0, maximumResponses)) {
    const decision = decisionIn(response);
    isDecided &&= decision !== null;
    if (decision === null) continue;
    await operations
      .perform(routes.answerApproval, carrier, async (operation) => {
        const agent = await operation.findAgent(name);
        const turn = await turns.find(agent.id, turnId);
        requireOwnTurn(caller, turn);
        await approvals.answer(agent, turn, id, { decision }, caller);
      })
      .catch((error: unknown) => {
        if (!(error instanceof BerthError && isOver.includes(error.code))) throw error;
      });
  }
  return isDecided;
}

const maximumResponses = 20;
const isOver: readonly string[] = ["approval_answered", "approval_not_waiting", "approval_not_found"];

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
