import { allAbilities, type Runtime } from "../../src/runtimes/runtime.ts";
import { clock, ticks } from "./ticks.ts";

/**
 * A runtime that sends the time as `ticks` does, as long as its message asks. For `wait` it sends
 * nothing and does not end.
 */
export function relayRuntime(): Runtime {
  return {
    name: "claude-code",
    description: "Answers at once.",
    package: "openclaw",
    abilities: allAbilities,
    memoryMiB: 1536,
    wires: ["messages"],
    defaultModels: ["anthropic/"],
    warmUp: [],
    start: async () => ({
      prompt: async ({ message }, emit) => {
        if (message === "wait") await new Promise(() => {});
        else await ticks(message, () => emit({ type: "response.output_text.delta", delta: clock() }));
        return { type: "response.completed" };
      },
      id: "relay",
      steer: async () => false,
      enter: async () => {},
      stop: () => {},
      ended: new Promise(() => {}),
    }),
  };
}
