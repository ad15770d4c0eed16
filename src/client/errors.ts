import type { ErrorBody } from "../contract/agents.ts";

/** Whatever a call can fail with, besides the reason of a signal that was aborted. */
export class ClientError extends Error {
  /** As JSON. */
  toJSON(): unknown {
    return { message: this.message };
  }
}

/** What was asked for makes no request. */
export class UnsendableError extends ClientError {}

/** The service could not be reached, or the connection broke off: the one error that is worth another try. */
export class UnreachableError extends ClientError {}

/** Nothing answered at the service's address. */
export class NoAnswerError extends UnreachableError {}

/** Something answered that is not the service. */
export class NotBerthError extends ClientError {}

/** The service answered with a status of 400 or above. */
export class ApiError extends ClientError {
  readonly statusCode: number;
  readonly body: Partial<ErrorBody>;

  /** `body` is what was answered; of something that is not Berth it may lack any field. */
  constructor(statusCode: number, body: Partial<ErrorBody>) {
    super([body.message ?? `The service answered with status ${statusCode}.`, ...furtherIssues(body)].join("\n"));
    this.statusCode = statusCode;
    this.body = body;
  }

  /** A stable word for what happened. */
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

/** A line for each of the details' issues that the message does not tell already. */
function furtherIssues({ message = "", details }: Partial<ErrorBody>): string[] {
  const issues = (details as { issues?: unknown } | undefined)?.issues;
  if (!Array.isArray(issues)) return [];
  return issues
    .map((issue: { field?: unknown; message?: unknown }) => ({ field: issue?.field, text: issue?.message }))
    .filter(({ text }) => typeof text === "string" && !message.includes(text))
    .map(({ field, text }) => (field ? `  ${field}: ${text}` : `  ${text}`));
}
