import type { ErrorBody } from "../contract/agents.ts";

/** Any failure of a call, except the reason of an aborted signal. */
export class ClientError extends Error {
  /** As JSON. */
  toJSON(): unknown {
    return { message: this.message };
  }
}

/** The arguments do not make a valid request. */
export class UnsendableError extends ClientError {}

/** The service could not be reached, or the connection broke. The only error worth retrying. */
export class UnreachableError extends ClientError {}

/** Nothing answered at the service's address. */
export class NoAnswerError extends UnreachableError {}

/** Something other than Berth answered. */
export class NotBerthError extends ClientError {}

/** The service answered with status 400 or above. */
export class ApiError extends ClientError {
  readonly statusCode: number;
  readonly body: Partial<ErrorBody>;

  /** `body` is the response body. If the server is not Berth, any field may be missing. */
  constructor(statusCode: number, body: Partial<ErrorBody>) {
    super([body.message ?? `The service answered with status ${statusCode}.`, ...furtherIssues(body)].join("\n"));
    this.statusCode = statusCode;
    this.body = body;
  }

  /** A stable identifier for the error. */
  get code(): ErrorBody["code"] | undefined {
    return this.body.code;
  }

  get details(): unknown {
    return this.body.details;
  }

  override toJSON(): unknown {
    return { statusCode: this.statusCode, message: this.message, ...this.body };
  }
}

/** One line for each issue in the details that the message does not already mention. */
function furtherIssues({ message = "", details }: Partial<ErrorBody>): string[] {
  const issues = (details as { issues?: unknown } | undefined)?.issues;
  if (!Array.isArray(issues)) return [];
  return issues
    .map((issue: { field?: unknown; message?: unknown }) => ({ field: issue?.field, text: issue?.message }))
    .filter(({ text }) => typeof text === "string" && !message.includes(text))
    .map(({ field, text }) => (field ? `  ${field}: ${text}` : `  ${text}`));
}
