import { afterAll, beforeAll, expect, test } from "vitest";
import { post, requireSchema, session, stream } from "../support/open-responses.ts";
import { png } from "../support/pictures.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// The cases of the acceptance tests of Open Responses (2026-04-24), by their names there, all at once on one agent. Its model
// does what a message says, so the message of `tool-calling` asks for a call.

const model = "pat";
let service: ScriptedService;
let results: Map<string, Promise<void>>;

/** The cases that fail, with the reason in docs/clients.md. */
const exceptions: readonly string[] = [];

beforeAll(async () => {
  service = await ScriptedService.start();
  await service.client.createAgent(model);
  results = new Map(Object.entries(cases).map(([name, run]) => [name, run()]));
  await Promise.allSettled(results.values());
});
afterAll(() => service[Symbol.asyncDispose]());

const user = (content: unknown) => ({ type: "message", role: "user", content });
const assistant = (content: unknown, phase?: string) => ({
  type: "message",
  role: "assistant",
  content,
  ...(phase && { phase }),
});

/** A completed response with output, over HTTP. */
async function completed(request: object) {
  const { status, body } = await post(service.client, "/responses", { model, ...request });
  expect(status).toBe(200);
  requireSchema("OpenAiResponse", body);
  expect(body).toMatchObject({ status: "completed", output: [expect.anything()] });
  return body;
}

const unstored = (input: unknown, more: object = {}) => ({ model, store: false, input, ...more });
const after = (turns: { response: { id: string } | null }[], input: unknown) =>
  unstored(input, { previous_response_id: turns[0]!.response!.id });

const compacted = [
  user([{ type: "input_text", text: "Remember the compaction code word: slate." }]),
  assistant([{ type: "output_text", text: "OK." }]),
  user([{ type: "input_text", text: "Compress this conversation for later continuation." }]),
];

const cases: Record<string, () => Promise<void>> = {
  "basic-response": async () => void (await completed({ input: [user("Say hello in exactly 3 words.")] })),
  "assistant-phase": async () => {
    const history = [assistant("I should answer.", "commentary"), assistant("The number is four.", "final_answer")];
    await completed({ input: [...history, user("Repeat only the number.")] });
  },
  "response-output-phase-schema": async () => {
    const response = await completed({ input: [user("Hello")] });
    const [message] = response.output;
    const output = ["commentary", "final_answer"].map((phase) => ({ ...message, phase }));
    requireSchema("OpenAiResponse", { ...response, output });
  },
  "streaming-response": async () => {
    const { response } = await stream(service.client, { model, input: [user("Count from 1 to 5.")] });
    expect(response.status).toBe("completed");
  },
  "websocket-response": async () => {
    const [turn] = await session(service.client, [() => ({ model, input: [user("Count from 1 to 3.")] })]);
    expect(turn!.response.status).toBe("completed");
  },
  "websocket-sequential-responses": async () => {
    const asked = ["first", "second"].map((word) => () => unstored(`Reply with exactly: ${word}`));
    const turns = await session(service.client, asked);
    expect(turns.map(({ response }) => response.status)).toEqual(["completed", "completed"]);
  },
  "websocket-continuation": async () => {
    const [, second] = await session(service.client, [
      () => unstored("Remember the code word: cobalt. Reply with OK."),
      (turns) => after(turns, "recall"),
    ]);
    expect(second!.response).toMatchObject({ status: "completed", store: false });
    expect(JSON.stringify(second!.response.output)).toContain("cobalt");
  },
  "websocket-reconnect-store-false-recovery": async () => {
    const first = await session(service.client, [() => unstored("Remember the code word: copper. Reply with OK.")]);
    const [lost, recovered] = await session(service.client, [
      () => after(first, "What is the code word?"),
      () => unstored([user("Start a new response and reply with exactly: recovered")]),
    ]);
    expect(lost!.code).toBe("previous_response_not_found");
    expect(recovered!.response.status).toBe("completed");
  },
  "websocket-previous-response-not-found": async () => {
    const previous_response_id = `resp_openresponses_missing_${Date.now()}`;
    const [turn] = await session(service.client, [() => unstored("This should fail.", { previous_response_id })]);
    expect(turn!.code).toBe("previous_response_not_found");
  },
  "websocket-failed-continuation-evicts-cache": async () => {
    const output = { type: "function_call_output", call_id: "call_openresponses_missing", output: "No such call." };
    const [first, failed, retried] = await session(service.client, [
      () => unstored("Remember the code word: ember. Reply with OK."),
      (turns) => after(turns, [output]),
      (turns) => after(turns, "Reply with exactly: stale"),
    ]);
    expect([first!.response.status, failed!.code]).toEqual(["completed", "function_not_waiting"]);
    expect(retried!.code).toBe("previous_response_not_found");
  },
  "websocket-compact-new-chain": async () => {
    const { body } = await post(service.client, "/responses/compact", { model, input: compacted });
    const input = [...body.output, user("Continue from here. Reply with exactly: compacted")];
    const [turn] = await session(service.client, [() => unstored(input, { tools: [] })]);
    expect(turn!.response).toMatchObject({ status: "completed", previous_response_id: null });
  },
  "system-prompt": async () => {
    const system = { type: "message", role: "system", content: "Always respond in pirate speak." };
    await completed({ input: [system, user("Say hello.")] });
  },
  "tool-calling": async () => {
    const properties = { location: { type: "string", description: "The city and state, e.g. San Francisco, CA" } };
    const parameters = { type: "object", properties, required: ["location"] };
    const tools = [{ type: "function", name: "get_weather", description: "Of a location", parameters }];
    const input = [user('call get_weather {"location":"San Francisco"}')];
    const { output } = await completed({ input, tools });
    expect(output).toMatchObject([{ type: "function_call", name: "get_weather" }]);
  },
  "image-input": async () => {
    const image_url = `data:image/png;base64,${png().toString("base64")}`;
    const text = { type: "input_text", text: "What do you see in this image? Answer in one sentence." };
    await completed({ input: [user([text, { type: "input_image", image_url }])] });
  },
  "multi-turn": async () => {
    const history = [user("My name is Alice."), assistant("Hello Alice! How can I help you today?")];
    await completed({ input: [...history, user("What is my name?")] });
  },
  "compact-response": async () => {
    const { status, body } = await post(service.client, "/responses/compact", {
      model,
      prompt_cache_key: "openresponses-compact-test",
      input: [user("We agreed to launch on Tuesday."), assistant("Understood. The launch is Tuesday.")],
    });
    expect(status).toBe(200);
    requireSchema("CompactedResponse", body);
    expect(body).toMatchObject({ object: "response.compaction", output: [{ type: "compaction" }] });
  },
  "compact-missing-model": async () => {
    const { status, body } = await post(service.client, "/responses/compact", { input: compacted });
    expect([status, body.error.param]).toEqual([400, "model"]);
  },
};

test.each(Object.keys(cases))("%s", async (name) => {
  const result = results.get(name)!;
  if (exceptions.includes(name)) await expect(result).rejects.toThrow();
  else await result;
});
