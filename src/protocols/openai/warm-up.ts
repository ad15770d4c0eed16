import { randomUUID } from "node:crypto";
import type { AgentState } from "../../agents/agent.ts";
import { BerthError } from "../../contract/errors.ts";
import type { CreateResponse, InputItem } from "../../contract/openai.ts";
import { requestOf } from "./create.ts";
import { type ResponseOutcome, responseObject } from "./response-object.ts";
import { newResponse } from "./stored-responses.ts";

/** The input of a response that was prepared on a connection, by its id. */
export interface WarmUp {
  id: string;
  input: readonly InputItem[];
  /** The size of its requests, in bytes. */
  bytes: number;
}

/** The most that a connection keeps of prepared input, in bytes of its requests. */
const maximumBytes = 1024 * 1024;

export function itemsOf(input: CreateResponse["input"]): readonly InputItem[] {
  return typeof input === "string" ? [{ type: "message", role: "user", content: input }] : input;
}

/**
 * A response without output, for `generate: false`, and its events. Its input waits for the next request. Throws
 * `body_too_large`.
 */
export function warmUp(agent: AgentState, body: CreateResponse, bytes: number): { kept: WarmUp; events: object[] } {
  if (bytes > maximumBytes) {
    const limit = `${maximumBytes / 1024 ** 2} MiB`;
    throw new BerthError("body_too_large", `Requests with generate: false can prepare up to ${limit} together.`);
  }
  const id = randomUUID();
  const response = newResponse({ id, turnId: id, agentId: agent.id, request: requestOf(body, null) });
  const outcome: ResponseOutcome = { status: "in_progress", output: [], usage: null, error: null, completedAt: null };
  const begun = responseObject(response, agent.name, outcome);
  const completedAt = new Date().toISOString();
  const done = responseObject(response, agent.name, { ...outcome, status: "completed", completedAt });
  const events = [
    { type: "response.created", sequence_number: 0, response: begun },
    { type: "response.in_progress", sequence_number: 1, response: begun },
    { type: "response.completed", sequence_number: 2, response: done },
  ];
  return { kept: { id, input: itemsOf(body.input), bytes }, events };
}
