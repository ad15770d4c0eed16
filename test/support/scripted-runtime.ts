import { setTimeout as sleep } from "node:timers/promises";
import type { TurnEvent } from "../../src/contract/chat.ts";
import type { LastEvent, Runtime, Session } from "../../src/runtimes/runtime.ts";

/**
 * A runtime whose turns do what their message says, for tests of all that lies between it and a client:
 *
 *   count N [MS]   N deltas, MS milliseconds apart
 *   tool           a tool call and its output
 *   hang           nothing, until it is cancelled
 *   deaf           nothing, and a cancel is not heard
 *   crash          the runtime dies
 *   anything else  is repeated, word by word
 */
export const scriptedRuntime: Runtime = {
  name: "claude-code",
  warmUp: [],
  start: async () => new ScriptedSession(),
};

class ScriptedSession implements Session {
  readonly #end = Promise.withResolvers<void>();
  readonly ended = this.#end.promise;

  async prompt(message: string, emit: (event: TurnEvent) => void, signal: AbortSignal): Promise<LastEvent> {
    const [verb, ...words] = message.split(" ");
    const say = (delta: string) => emit({ type: "response.output_text.delta", delta });
    switch (verb) {
      case "count":
        for (let number = 1; number <= Number(words[0]) && !signal.aborted; number++) {
          say(`${number} `);
          await sleep(Number(words[1] ?? 0));
        }
        break;
      case "tool":
        emit({ type: "response.tool_call.started", id: "call-1", name: "Bash", input: { command: "date" } });
        emit({ type: "response.tool_call.completed", id: "call-1", output: "null character: \0" });
        say("done");
        break;
      case "hang":
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        break;
      case "deaf":
        await new Promise(() => {});
        break;
      case "crash":
        this.stop();
        return { type: "response.failed", error: { code: "runtime_failed", message: "The runtime ended." } };
      default:
        for (const word of message.split(/(?<= )/)) say(word);
    }
    return signal.aborted ? { type: "response.cancelled" } : { type: "response.completed" };
  }

  async clear(): Promise<void> {}

  stop(): void {
    this.#end.resolve();
  }
}
