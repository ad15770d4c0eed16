import { isatty } from "node:tty";
import { type Logger, pino } from "pino";
import { prettyFactory } from "pino-pretty";
import { z } from "zod";
import type { Config } from "../config/config.ts";
import { InvalidValue, issuesOf } from "../contract/validation.ts";

/** Standard error: standard output has what the server tells its operator. */
const descriptor = 2;

/** How the log is written: as configured, otherwise for people on a terminal and for programs anywhere else. */
export function logFormatOf({ logFormat }: Pick<Config, "logFormat">): "json" | "text" {
  return logFormat ?? (isatty(descriptor) ? "text" : "json");
}

/** The server's log, with one line of JSON or one of text for each entry. Stacks of errors have more lines of text. */
export function openLogger(config: Pick<Config, "logLevel" | "logFormat">): Logger {
  const serializers = { err: serialized, cause: serialized, error: serialized };
  const options = { level: config.logLevel, serializers };
  const output = pino.destination(descriptor);
  if (logFormatOf(config) === "json") return pino(options, output);
  const format = prettyFactory({
    ignore: "pid,hostname,reqId",
    singleLine: true,
    translateTime: "SYS:HH:MM:ss",
  });
  return pino(options, { write: (line: string) => void output.write(format(withoutControls(line))) });
}

/** An error as logged. */
function serialized(error: unknown): unknown {
  return error instanceof Error ? pino.stdSerializers.err(withFewIssues(error)) : error;
}

/** The error, or for one of zod, which lists every issue, its first issues. Also where it is the cause of another. */
function withFewIssues(error: Error): Error {
  if (error instanceof z.core.$ZodError) return new InvalidValue(issuesOf(error));
  const { cause } = error;
  return cause instanceof Error ? Object.create(error, { cause: { value: withFewIssues(cause) } }) : error;
}

/** A line of JSON whose texts have no control characters, which could steer a terminal, but tabs and line ends. */
export function withoutControls(json: string): string {
  return json.replaceAll(/\\\\|\\u00[01][0-9a-f]|[\x7f-\x9f]/gi, (found) => (found === "\\\\" ? found : "\ufffd"));
}
