import type { SequencedEvent, TurnEvent } from "../contract/chat.ts";
import { BerthError } from "../contract/errors.ts";
import type { ClientFunction } from "../contract/functions.ts";
import { type OutputSchema, outputTool } from "../contract/output.ts";
import { checkSchema, issuesOf } from "../core/json-schema/check.ts";
import { SchemaFault } from "../core/json-schema/structure.ts";
import { Places } from "../core/places.ts";
import type { RunningTurn } from "./running-turn.ts";

/** How many schemas of an account are checked at once, how many more wait, and how long. */
const limits = { perHolder: 2, waiting: 20, waitMs: 30_000 };

/** The schemas of outputs that requests ask for. */
export class Outputs {
  readonly #places = new Places(limits);

  /** Throws `request_invalid` with the place of a fault as a JSON pointer, and `too_many_requests`. */
  async check(accountId: string, schema: OutputSchema, functions: readonly ClientFunction[]): Promise<void> {
    if (functions.some(({ name }) => name === outputTool)) {
      const message = `The function name ${outputTool} is reserved for the output: give the function another name.`;
      throw new BerthError("request_invalid", message);
    }
    const free = await this.#places.take(accountId);
    if (!free) throw new BerthError("too_many_requests", "Too many schemas of the account are checked; try again.");
    try {
      await checkSchema(schema);
    } catch (error) {
      if (!(error instanceof SchemaFault)) throw error;
      const { pointer, message } = error;
      const place = pointer === "" ? "The output's schema is invalid" : `The output's schema is invalid at ${pointer}`;
      throw new BerthError("request_invalid", `${place}: ${message}`, {
        details: { issues: [{ field: pointer, message }] },
      });
    } finally {
      free();
    }
  }
}

type FailedEvent = Extract<TurnEvent, { type: "response.failed" }>;

/** A guest's event. The runner has checked the output, but the agent may have changed the runner. */
export async function verified(entry: SequencedEvent, { turn, ending }: RunningTurn): Promise<SequencedEvent> {
  const { seq, event } = entry;
  if (event.type !== "response.completed" || ending) return entry;
  const { output, ...rest } = event;
  if (turn.outputSchema === null) return { seq, event: rest };
  const fault = await faultOf(turn.outputSchema, output);
  return { seq, event: fault ? { ...fault, ...(event.changes && { changes: event.changes }) } : event };
}

async function faultOf(schema: OutputSchema, output: OutputSchema | undefined): Promise<FailedEvent | null> {
  if (output === undefined) {
    const message = "The agent ended its turn without an output.";
    return { type: "response.failed", error: { code: "output_missing", message } };
  }
  const issues = await issuesOf(schema, output);
  if (issues.length === 0) return null;
  const message = "The agent's output does not match the schema.";
  return { type: "response.failed", error: { code: "output_invalid", message, details: { issues } } };
}
