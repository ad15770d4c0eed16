import type { Fault } from "../contract/agents.ts";
import type { LastEvent, TurnEvent } from "../contract/chat.ts";
import type { ClientFunction } from "../contract/functions.ts";
import { type OutputIssue, type OutputSchema, type OutputValue, outputTool } from "../contract/output.ts";
import { issuesOf, machineMs } from "../core/json-schema/check.ts";
import type { Prompt, Session } from "../runtimes/runtime.ts";

const instruction = `When your work is done, call the tool \`${outputTool}\` with the result. A program reads the tool's input and nothing else of your answer, so end your turn with that call.`;

const reminder = `You have ended your turn without a call of the tool \`${outputTool}\`. Call it now with the result of your work.`;

const given = "The output was accepted. End your turn now.";

/** How many invalid outputs a turn may give: after the first, the model gets the faults. */
const maximumInvalid = 2;

/** The answer to a call of the tool. */
export interface OutputAnswer {
  text: string;
  isError: boolean;
}

/** The structured output that a turn has to end with: a tool that its runtime calls, whose input is the output. */
export class TurnOutput {
  readonly tool: ClientFunction;
  readonly #schema: OutputSchema;
  #value: OutputValue | null = null;
  #invalid = 0;
  #fault: Fault | null = null;
  /** Aborted when the output is invalid for the last time. */
  readonly #over = new AbortController();
  #checks: Promise<unknown> = Promise.resolve();

  constructor(schema: OutputSchema) {
    this.#schema = schema;
    const { $schema: _, ...parameters } = schema;
    this.tool = {
      name: outputTool,
      description: "Gives the result of your work. Call it once, at the end.",
      parameters,
    };
  }

  /** Checks an output. The first valid one is the turn's. */
  take(value: OutputValue): Promise<OutputAnswer> {
    const answer = this.#checks.then(() => this.#take(value));
    this.#checks = answer.catch(() => {});
    return answer;
  }

  async #take(value: OutputValue): Promise<OutputAnswer> {
    if (this.#value !== null) return { text: given, isError: false };
    if (this.#fault !== null) return { text: this.#fault.message, isError: true };
    const issues = await issuesOf(this.#schema, value, machineMs);
    if (issues.length === 0) {
      this.#value = value;
      return { text: given, isError: false };
    }
    if (++this.#invalid < maximumInvalid) {
      return { text: `The output is invalid. Call the tool once more.\n${listed(issues)}`, isError: true };
    }
    const message = `The agent's output does not match the schema: ${shown(issues[0]!)}.`;
    this.#fault = { code: "output_invalid", message, details: { issues } };
    setImmediate(() => this.#over.abort()); // Answer the call first.
    return { text: "The output is invalid again. The turn ends.", isError: true };
  }

  /** Runs the turn, and asks once more for an output that the runtime did not give. */
  async run(
    session: Session,
    prompt: Prompt,
    emit: (event: TurnEvent) => void,
    cancelled: AbortSignal,
  ): Promise<LastEvent> {
    const signal = AbortSignal.any([cancelled, this.#over.signal]);
    let last = await session.prompt({ ...prompt, message: `${prompt.message}\n\n${instruction}` }, emit, signal);
    if (last.type === "response.completed" && this.#value === null && this.#fault === null) {
      emit({ type: "response.output_text.delta", delta: "\n\n" });
      last = await session.prompt({ message: reminder, model: prompt.model }, emit, signal);
    }
    return cancelled.aborted ? last : this.#outcome(last);
  }

  #outcome(last: LastEvent): LastEvent {
    if (this.#fault !== null) return { type: "response.failed", error: this.#fault };
    if (last.type !== "response.completed") return last;
    if (this.#value !== null) return { ...last, output: this.#value };
    const message = "The agent ended its turn without an output, also when it was asked once more.";
    return { type: "response.failed", error: { code: "output_missing", message } };
  }
}

function listed(issues: readonly OutputIssue[]): string {
  return issues.map((issue) => `- ${shown(issue)}`).join("\n");
}

function shown({ field, message }: OutputIssue): string {
  return `${field === "" ? "it" : field} ${message}`;
}
