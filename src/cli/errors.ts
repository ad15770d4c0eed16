import type { Fault } from "../contract/agents.ts";

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
