import { isToolCall, type ToolCallEvent, type TurnEvent } from "../contract/chat.ts";

/** Between two events with the output of the same call, in milliseconds. */
const pauseMs = 1_000;
/** A longer output of a call that runs is cut to its end. */
const shownCharacters = 4_000;

interface Call {
  /** All updates of the call in one, with all of its output so far. */
  update: ToolCallEvent;
  /** Set while it is too soon for another event. */
  pause: NodeJS.Timeout | null;
  /** Whether all of it was passed on. */
  isShown: boolean;
}

/**
 * Passes on a turn's events. Runtimes report the whole output of a call that runs with each line of it. It is passed on
 * once a second, and only its end; the event that ends the call has all of it.
 */
export class RunningOutput {
  readonly #append: (event: TurnEvent) => void;
  readonly #calls = new Map<string, Call>();

  constructor(append: (event: TurnEvent) => void) {
    this.#append = append;
  }

  take(event: TurnEvent): void {
    if (!isToolCall(event)) this.#append(event);
    else if (event.type === "response.tool_call.completed") this.#complete(event);
    else if (event.type === "response.tool_call.updated") this.#update(event);
    else this.#append(event);
  }

  /** Passes on the output of calls that have not ended. */
  end(): void {
    for (const { update, pause, isShown } of this.#calls.values()) {
      if (pause) clearTimeout(pause);
      if (!isShown) this.#append(update);
    }
    this.#calls.clear();
  }

  #update(event: ToolCallEvent): void {
    const known = this.#calls.get(event.id);
    if (known) known.update = { ...known.update, ...event };
    if (event.output === undefined) return void this.#append(event);
    const call = known ?? { update: event, pause: null, isShown: false };
    call.isShown = false;
    this.#calls.set(event.id, call);
    if (!call.pause) this.#show(call);
  }

  #show(call: Call): void {
    const { output } = call.update;
    const passed = shortened(output);
    this.#append({ ...call.update, output: passed });
    call.isShown = JSON.stringify(passed) === JSON.stringify(output);
    call.pause = setTimeout(() => {
      call.pause = null;
      if (call.update.output !== output) this.#show(call);
    }, pauseMs);
  }

  #complete(event: ToolCallEvent): void {
    const call = this.#calls.get(event.id);
    this.#calls.delete(event.id);
    if (call?.pause) clearTimeout(call.pause);
    this.#append(call && event.output === undefined ? { ...event, output: call.update.output } : event);
  }
}

/** A tool's output, with its texts cut. A diff is as it was. */
function shortened(output: unknown): unknown {
  if (typeof output === "string") return endOf(output);
  if (Array.isArray(output)) return output.map(shortened);
  if (typeof output !== "object" || output === null || ("type" in output && output.type === "diff")) return output;
  return Object.fromEntries(Object.entries(output).map(([name, value]) => [name, shortened(value)]));
}

function endOf(text: string): string {
  return text.length > shownCharacters ? `…${text.slice(-shownCharacters)}` : text;
}
