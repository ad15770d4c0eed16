import type { Machines } from "../machines/machines.ts";
import type { GuestsOfTurns } from "../service/turn-run.ts";

/** The guests' turns, over the connections of the machines. */
export function guestsOfTurns(machines: Machines): GuestsOfTurns {
  return {
    prompt: async function* (id, turnId, prompt) {
      yield* await machines.prompt(id, turnId, prompt);
    },
    events: async function* (id, turnId, after) {
      yield* await machines.events(id, turnId, after);
    },
    cancel: (id, turnId) => machines.cancel(id, turnId),
    ended: (id) => machines.ended(id),
  };
}
