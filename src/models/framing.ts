import type { JsonObject } from "./wires/wire.ts";

/** How a platform frames a request of Anthropic's Messages API, or ChatGPT's backend one of OpenAI's Responses. */
export interface Framing {
  kind: "bedrock" | "vertex" | "chatgpt";
  /** The values of the header `anthropic-beta`. */
  betas: readonly string[];
}

/**
 * The betas that Bedrock accepts; it refuses requests with others.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages-request-response.html
 */
const betasOfBedrock = new Set([
  "computer-use-2025-01-24",
  "computer-use-2025-11-24",
  "context-1m-2025-08-07",
  "context-management-2025-06-27",
  "dev-full-thinking-2025-05-14",
  "effort-2025-11-24",
  "fine-grained-tool-streaming-2025-05-14",
  "interleaved-thinking-2025-05-14",
  "output-128k-2025-02-19",
  "token-efficient-tools-2025-02-19",
  "tool-examples-2025-10-29",
  "tool-search-tool-2025-10-19",
]);

/** Fields that ChatGPT's backend refuses. */
const notForChatGpt = ["max_output_tokens", "metadata", "safety_identifier", "temperature", "top_p", "user"];

/** Moves what the platform wants elsewhere out of the body: the model and streaming to the address, betas to the body. */
export function frame(request: JsonObject, { kind, betas }: Framing): void {
  if (kind === "chatgpt") {
    for (const name of notForChatGpt) delete request[name];
    if (request.service_tier === "default") delete request.service_tier;
    request.store = false;
    return;
  }
  delete request.model;
  delete request.service_tier;
  if (kind === "vertex") {
    request.anthropic_version = "vertex-2023-10-16";
    return;
  }
  request.anthropic_version = "bedrock-2023-05-31";
  delete request.stream;
  delete request.metadata;
  const known = betas.filter((beta) => betasOfBedrock.has(beta));
  if (known.length > 0) request.anthropic_beta = known;
}
