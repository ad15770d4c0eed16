import type { Error as ErrorBody } from "./generated/types.gen.ts";

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
  /** Names the request in the service's log. */
  readonly requestId: string | null;

  /** `body` is the response body. If the server is not Berth, any field may be missing. */
  constructor(statusCode: number, body: Partial<ErrorBody>, requestId: string | null = null) {
    super([body.message ?? `The service answered with status ${statusCode}.`, ...furtherIssues(body)].join("\n"));
    this.statusCode = statusCode;
    this.body = body;
    this.requestId = requestId;
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

/** A turn failed, or was cancelled. */
export class TurnError extends ClientError {
  /** A stable identifier for the failure, or `cancelled`. */
  readonly code: string;
  /** The reply as far as it had come. */
  readonly text: string;

  constructor(message: string, code: string, text: string) {
    super(message);
    this.code = code;
    this.text = text;
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
