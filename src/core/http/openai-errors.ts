import type { BerthError, ErrorCode } from "../../contract/errors.ts";

/** OpenAI's names for some of Berth's codes, which its clients check. */
const codes: Partial<Record<ErrorCode, string>> = {
  agent_not_found: "model_not_found",
  credentials_invalid: "invalid_api_key",
  credentials_missing: "invalid_api_key",
  insufficient_credits: "insufficient_quota",
  rate_limited: "rate_limit_exceeded",
};

/**
 * Tells OpenAI's clients not to retry. By default they retry after each 409 and 5xx, which would repeat the agent's
 * work.
 */
export const notAgain = ["x-should-retry", "false"] as const;

/** The parameters at fault, of codes that have always the same. */
const params: Partial<Record<ErrorCode, string>> = {
  agent_not_found: "model",
  function_not_waiting: "input",
  response_not_last: "previous_response_id",
};

/** An error for OpenAI's clients (https://platform.openai.com/docs/guides/error-codes). */
export function openAiError({ code, status, details }: BerthError, message: string) {
  const issues = (details as { issues?: { field: string }[] } | undefined)?.issues;
  const param = issues?.[0]?.field || (params[code] ?? null);
  return { error: { message, type: typeOf(status), param, code: openAiCode(code) } };
}

/** OpenAI's name of the code, or Berth's own. */
export function openAiCode(code: ErrorCode): string {
  return codes[code] ?? code;
}

function typeOf(status: number): string {
  if (status === 401) return "authentication_error";
  if (status === 402) return "insufficient_quota";
  if (status === 403) return "permission_error";
  if (status === 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}
