import type { AgentState } from "../../agents/agent.ts";
import type { AppContext } from "../../context.ts";
import { BerthError } from "../../contract/errors.ts";
import { type CreateResponse, fromResponseId, schemaOf, toolsOf } from "../../contract/openai.ts";
import { type Asking, beginAsked } from "./begin.ts";
import { askedOfInput } from "./input.ts";
import type { BegunResponse, ResponseRequest } from "./stored-responses.ts";

/** Starts the requested turn, or finds what an earlier attempt has started. */
export async function createResponse(
  context: AppContext,
  request: Asking,
  agent: AgentState,
  body: CreateResponse,
): Promise<BegunResponse> {
  const { previous_response_id: previous, store, instructions, metadata, background } = body;
  const { format } = body.text ?? {};
  const asked = askedOfInput(body.input);
  const previousId = previous ? fromResponseId(previous) : null;
  if (previousId === "") throw new BerthError("response_not_found", "previous_response_id is not a valid response id.");
  const repeated: ResponseRequest = {
    instructions: instructions ?? null,
    metadata: metadata ?? {},
    background: background ?? false,
    tools: toolsOf(body),
    ...(format && { format }),
  };
  return beginAsked(context, request, agent, {
    asked,
    instructions: instructions ? [instructions] : [],
    functions: toolsOf(body),
    outputSchema: format?.type === "json_schema" ? schemaOf(format) : null,
    previousId,
    request: store === false ? null : repeated,
  });
}
