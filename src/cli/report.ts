import { CliError } from "./errors.ts";
import { styled, writeText } from "./terminal.ts";

/**
 * Shows on stderr what ended a command, as a line of JSON where that was asked for, and answers the exit code.
 * A fault of the tool itself is shown whole.
 */
export function reportError(error: unknown, json: boolean): number {
  const { stderr } = process;
  const told = error instanceof CliError ? error : isSystemError(error) ? new CliError(error.message) : null;
  if (told === null) {
    writeText(stderr, `berth: ${error instanceof Error ? error.stack : error}\n`);
    return 1;
  }
  if (told.message !== "") {
    stderr.write(json ? "" : styled(stderr, "red", "berth: "));
    writeText(stderr, `${json ? JSON.stringify(told) : told.message}\n`);
  }
  return told.exitCode;
}

/** True for what the operating system refused: a file, a process. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error;
}
