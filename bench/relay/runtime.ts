import { allAbilities, type Runtime } from "../../src/runtimes/runtime.ts";
import { clock, ticks } from "./ticks.ts";

/**
 * A runtime that says the time, as often as `ticks` has it and for as many seconds as its message is a number; told to
 * `wait`, it says nothing and does not end.
 */
export function relayRuntime(): Runtime {
  return {
    name: "claude-code",
    package: "openclaw",
    abilities: allAbilities,
    memoryMiB: 1536,
    providers: ["anthropic"],
    defaultModels: ["anthropic/"],
    warmUp: [],
    start: async () => ({
      prompt: async ({ message }, emit) => {
        if (message === "wait") await new Promise(() => {});
        else await ticks(Number(message), () => emit({ type: "response.output_text.delta", delta: clock() }));
        return { type: "response.completed" };
      },
      clear: async () => {},
      stop: () => {},
      ended: new Promise(() => {}),
    }),
  };
}
