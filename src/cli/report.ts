import { ApiError, ClientError, NoAnswerError, UnsendableError } from "@berth/client";
import { startCommand } from "./checkout.ts";
import { serverUrl } from "./connect.ts";
import { findCredentials, isThisMachine } from "./credentials.ts";
import { readEnvironment } from "./environment.ts";
import { CliError } from "./errors.ts";
import { styled, writeText } from "./terminal.ts";

/**
 * Reports the error that ended a command on stderr, as a JSON line if requested. Resolves with the exit code. A bug in
 * the tool itself is reported with its stack.
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

/** The error, with advice for the user where there is any. */
export async function adviceOn(error: unknown): Promise<unknown> {
  if (error instanceof NoAnswerError) {
    const url = serverUrl(readEnvironment());
    const advice = isThisMachine(new URL(url).hostname) ? ` To start it: ${startCommand}` : "";
    return new CliError(`${error.message} Is the server running?${advice}`);
  }
  if (error instanceof ApiError && error.statusCode === 401) return adviceOnCredentials(error);
  return isSystemError(error) ? new CliError(error.message) : error;
}

async function adviceOnCredentials(error: ApiError): Promise<ApiError | CliError> {
  const environment = readEnvironment();
  const credentials = await findCredentials(serverUrl(environment), environment);
  if (credentials.key === null) {
    return new CliError(`The service requires a key: set BERTH_API_KEY (${credentials.reason}).`);
  }
  if (!credentials.login) return error;
  return new CliError("Your login is no longer valid. Sign in again: berth login");
}

/** True for an operating system error: about a file or a process. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error;
}
