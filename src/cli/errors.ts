import { constants } from "node:os";
import type { Fault } from "@berth/client";

/** 1: the service refused or failed; 2: wrong use; 130: interrupted by Ctrl-C. 0 is success and not an error. */
type ExitCode = 1 | 2 | 130;

/** Ends the command. Its message, written for the user, goes to stderr unless it is empty. */
export class CliError extends Error {
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }

  /** The output of `--json` in place of the message. */
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

/** A turn or an installation failed. */
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

/** The message and its code, for support and for searching: `The machine did not start. (machine_failed)`. */
export function faultText({ message, code }: Fault): string {
  return `${message} (${code})`;
}

/** A shell's exit code for a program killed by a signal: 128 plus the signal's number, 128 for an unknown one. */
export function signalCode(signal: NodeJS.Signals | null): number {
  return 128 + (signal === null ? 0 : (constants.signals[signal] ?? 0));
}
