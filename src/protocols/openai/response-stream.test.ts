import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { TurnEvent } from "../../contract/chat.ts";
import type { TurnState } from "../../turns/turn.ts";
import { ResponseStream } from "./response-stream.ts";

const response = {
  ...{ id: randomUUID(), turnId: randomUUID(), agentId: randomUUID(), afterSeq: 0, previousId: null, input: [] },
  request: { background: false, instructions: null, metadata: {}, tools: [] },
  ...{ isStored: true, createdAt: new Date() },
};

/** The response after these events, and what its stream ends with. */
function streamOf(events: readonly TurnEvent[]) {
  const stream = new ResponseStream({ response, turn: { outputSchema: null } as TurnState, model: "ada" });
  const sent = stream.take(events.map((event, index) => ({ seq: index + 1, event })));
  return { object: stream.object, last: sent.at(-1)?.type };
}

const text = (characters: number): TurnEvent => ({ type: "response.output_text.delta", delta: "x".repeat(characters) });
const mebi = 1024 * 1024;

test("a response whose text is larger than 4 MiB is incomplete", () => {
  const { object, last } = streamOf([text(3 * mebi), text(2 * mebi), { type: "response.completed" }]);
  expect(last).toBe("response.incomplete");
  expect(object).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } });
  expect(object.output.map(({ status }) => status)).toEqual(["incomplete"]);
  const [{ content }] = object.output as unknown as [{ content: [{ text: string }] }];
  expect(content[0].text).toHaveLength(4 * mebi);
});

test("a response with all of its text is completed", () => {
  const { object, last } = streamOf([text(4 * mebi), { type: "response.completed" }]);
  expect(last).toBe("response.completed");
  expect(object).toMatchObject({ status: "completed", incomplete_details: null, output: [{ status: "completed" }] });
});
