import { isDeepStrictEqual } from "node:util";
import type { SequencedEvent } from "../../src/contract/chat.ts";
import { deltasOf } from "./scripted-runtime.ts";

/**
 * Checks a turn's events against the scripted runtime's reply to the message, delta by delta. A turn that ended as
 * `machine_lost` may have any prefix of it, and nothing else. Returns how it ended; throws on a mismatch.
 */
export function checkTranscript(message: string, events: readonly SequencedEvent[]): "completed" | "machine_lost" {
  const expected = deltasOf(message);
  const deltas = events.flatMap(({ event }) => (event.type === "response.output_text.delta" ? [event.delta] : []));
  const last = events.at(-1)?.event;
  const complain = (what: string) => {
    throw new Error(
      `${message}: ${what}; ${deltas.length} of ${expected.length} deltas, ended as ${JSON.stringify(last)}`,
    );
  };
  if (events.some(({ seq }, index) => seq !== index + 1)) complain("the numbers have a gap or a repeat");
  if (!isDeepStrictEqual(deltas, expected.slice(0, deltas.length))) complain("the text is another");
  if (events[0]?.event.type !== "response.created") complain("it has another beginning");
  const others = events.slice(1, -1).filter(({ event }) => event.type !== "response.output_text.delta");
  if (others.some(({ seq, event }) => seq !== 2 || event.type !== "response.in_progress"))
    complain("it has more events");
  if (last?.type === "response.failed" && last.error.code === "machine_lost") return "machine_lost";
  if (last?.type !== "response.completed") complain("it has another end");
  if (deltas.length !== expected.length) complain("a part is missing");
  return "completed";
}
