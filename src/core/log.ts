import type { Logger } from "pino";

/** Writes a warning. `fields.error` is logged with its stack. */
export type Log = (message: string, fields: Record<string, unknown>) => void;

export function warningsOf(logger: Pick<Logger, "warn">): Log {
  return (message, { error, ...fields }) =>
    logger.warn(error === undefined ? fields : { ...fields, err: error }, message);
}
