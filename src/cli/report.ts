import { ApiError, ClientError, NoAnswerError, UnsendableError } from "../client/errors.ts";
import { serverUrl } from "./client.ts";
import { findCredentials } from "./credentials.ts";
import { readEnvironment } from "./environment.ts";
import { CliError } from "./errors.ts";
import { styled, writeText } from "./terminal.ts";

/**
 * Shows on stderr what ended a command, as a line of JSON where that was asked for, and resolves with the exit code. A
 * fault of the tool itself is shown whole.
 */
export async function reportError(error: unknown, json: boolean): Promise<number> {
  const { stderr } = process;
  const told = await adviceOn(error).catch((another: unknown) => another);
  if (!(told instanceof CliError || told instanceof ClientError)) {
    writeText(stderr, `berth: ${told instanceof Error ? told.stack : told}\n`);
    return 1;
  }
  if (told.message !== "") {
    stderr.write(json ? "" : styled(stderr, "red", "berth: "));
    writeText(stderr, `${json ? JSON.stringify(told) : told.message}\n`);
  }
  if (told instanceof UnsendableError) return 2;
  return told instanceof CliError ? told.exitCode : 1;
}

/** The error, in words that say what the user can do about it where there is something. */
async function adviceOn(error: unknown): Promise<unknown> {
  if (error instanceof NoAnswerError) {
    return new CliError(`${error.message} Is the server running? To start it: berth up`);
  }
  if (error instanceof ApiError && error.statusCode === 401) return adviceOnCredentials(error);
  return isSystemError(error) ? new CliError(error.message) : error;
}

async function adviceOnCredentials(error: ApiError): Promise<ApiError | CliError> {
  const environment = readEnvironment();
  const credentials = await findCredentials(serverUrl(environment), environment);
  if (credentials.key === null) {
    return new CliError(`The service asks for a key: set BERTH_API_KEY (${credentials.reason}).`);
  }
  if (!credentials.login) return error;
  return new CliError("The service does not take your login any more. Sign in again: berth login");
}

/** True for what the operating system refused: a file, a process. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error;
}
