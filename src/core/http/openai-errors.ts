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

/**
 * An error for OpenAI's clients (https://platform.openai.com/docs/guides/error-codes). `param` is empty if no field is
 * at fault: the AI SDK's provider for Open Responses rejects an error whose `param` is null.
 */
export function openAiError({ code, status, details }: BerthError, message: string) {
  const issues = (details as { issues?: { field: string }[] } | undefined)?.issues;
  return { error: { message, type: typeOf(status), param: issues?.[0]?.field ?? "", code: openAiCode(code) } };
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
