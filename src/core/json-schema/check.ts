import {
  maximumOutputBytes,
  maximumOutputLevels,
  type OutputIssue,
  type OutputSchema,
  type OutputValue,
} from "../../contract/output.ts";
import { structureOf } from "../json-structure.ts";
import { SchemaCheckers } from "./checkers.ts";
import { requireUsable, SchemaFault } from "./structure.ts";

/** How long the server works on a schema and a value. A usual schema takes some milliseconds. */
const serverMs = 2_000;
/** The same in a machine, which may be emulated: that takes twenty times as long. */
export const machineMs = 10_000;

const checkers = new SchemaCheckers();

/**
 * Checks a schema. Throws `SchemaFault`. A linear engine for regular expressions would not be enough, because references
 * and `uniqueItems` can take exponential or quadratic time, so all is done in a process with limits.
 */
export async function checkSchema(schema: OutputSchema): Promise<void> {
  requireUsable(schema);
  const answer = await checkers.answerTo({ schema: JSON.stringify(schema), value: null }, serverMs);
  if ("fault" in answer) throw new SchemaFault(answer.fault.pointer, answer.fault.message);
}

/** The faults of a value; none: it matches the schema, which was checked before. */
export async function issuesOf(schema: OutputSchema, value: OutputValue, maximumMs = serverMs): Promise<OutputIssue[]> {
  const text = JSON.stringify(value);
  const bytes = Buffer.from(text);
  if (bytes.length > maximumOutputBytes)
    return [{ field: "", message: `must have at most ${maximumOutputBytes} bytes of JSON` }];
  if (structureOf(bytes).depth > maximumOutputLevels)
    return [{ field: "", message: `must have at most ${maximumOutputLevels} levels` }];
  const answer = await checkers.answerTo({ schema: JSON.stringify(schema), value: text }, maximumMs);
  return "fault" in answer ? [{ field: "", message: answer.fault.message }] : answer.issues;
}
