import type { ErrorBody, Fault } from "../contract/agents.ts";

/** 1: the service refused or failed; 2: wrong use; 130: interrupted by Ctrl-C. 0 is what is no error. */
type ExitCode = 1 | 2 | 130;

/** Ends the command: its message, written for the user, goes to stderr. An empty one is not shown. */
export class CliError extends Error {
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }

  /** What `--json` prints in the message's place. */
  toJSON(): unknown {
    return { message: this.message };
  }
}

/** The service could not be reached, or the connection broke off: the one error that is worth another try. */
export class UnreachableError extends CliError {}

/** The second Ctrl-C. */
export class InterruptedError extends CliError {
  constructor() {
    super("", 130);
  }
}

/** A turn or an installation ended with a fault. */
export class FaultError extends CliError {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(faultText(fault));
    this.fault = fault;
  }

  override toJSON(): unknown {
    return this.fault;
  }
}

/** What happened and its code, to ask or to look for: `The machine did not start. (machine_failed)`. */
export function faultText({ message, code }: Fault): string {
  return `${message} (${code})`;
}

/** The service answered with a status of 400 or above. */
export class ApiError extends CliError {
  readonly statusCode: number;
  readonly body: Partial<ErrorBody>;

  /** `body` is what was answered; of something that is not Berth it may lack any field. */
  constructor(statusCode: number, body: Partial<ErrorBody>) {
    super([body.message ?? `The service answered with status ${statusCode}.`, ...furtherIssues(body)].join("\n"));
    this.statusCode = statusCode;
    this.body = body;
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
