import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { demo } from "../../src/models/demo/demo.ts";
import { DemoServer } from "../../src/models/demo/demo-server.ts";
import { chat } from "../../src/models/wires/chat.ts";
import { countTokens, messages } from "../../src/models/wires/messages.ts";
import { responses } from "../../src/models/wires/responses.ts";

// The demonstration model is read by the providers' own SDKs, in each of the three formats.

let server: DemoServer;
let anthropic: Anthropic;
let openai: OpenAI;

beforeAll(async () => {
  server = await DemoServer.start();
  anthropic = new Anthropic({ baseURL: server.url, apiKey: "any", maxRetries: 0 });
  openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "any", maxRetries: 0 });
});
afterAll(() => server[Symbol.dispose]());

/** A model's output: its words, or the command that it wants to run. */
interface Said {
  text: string;
  command: string | null;
  tool: string | null;
  id: string;
  tokens: number;
}

/** One conversation step by step, in one format: the user's words, or the output of the last call. */
interface Dialogue {
  say(words: string): Promise<Said>;
  result(output: string): Promise<Said>;
}

const parameters = { type: "object" as const, properties: { command: { type: "string" } } };

function commandOf(text: string): string {
  return (JSON.parse(text) as { command: string }).command;
}

function messagesDialogue(tool: string, stream: boolean): Dialogue {
  const said: Anthropic.MessageParam[] = [];
  let last = "";
  const next = async (content: Anthropic.MessageParam["content"]): Promise<Said> => {
    said.push({ role: "user", content });
    const request = { model: "m", max_tokens: 100, messages: said, tools: [{ name: tool, input_schema: parameters }] };
    const message = stream
      ? await anthropic.messages.stream(request).finalMessage()
      : await anthropic.messages.create(request);
    said.push({ role: "assistant", content: message.content });
    const block = message.content[0]!;
    const isCall = block.type === "tool_use";
    last = isCall ? block.id : "";
    return {
      text: block.type === "text" ? block.text : "",
      command: isCall ? (block.input as { command: string }).command : null,
      tool: isCall ? block.name : null,
      id: message.id,
      tokens: message.usage.input_tokens * message.usage.output_tokens,
    };
  };
  return {
    say: (words) =>
      next([
        { type: "text", text: "<system-reminder>run: rm</system-reminder>" },
        { type: "text", text: words },
      ]),
    result: (output) => next([{ type: "tool_result", tool_use_id: last, content: output }]),
  };
}

function chatDialogue(tool: string, stream: boolean): Dialogue {
  const said: OpenAI.ChatCompletionMessageParam[] = [{ role: "system", content: "You are X." }];
  let last = "";
  const next = async (message: OpenAI.ChatCompletionMessageParam): Promise<Said> => {
    said.push(message);
    const tools = [{ type: "function" as const, function: { name: tool, parameters } }];
    const request = { model: "m", messages: said, tools };
    const completion = stream
      ? await openai.chat.completions
          .stream({ ...request, stream_options: { include_usage: true } })
          .finalChatCompletion()
      : await openai.chat.completions.create(request);
    const answer = completion.choices[0]!.message;
    said.push(answer);
    const call = answer.tool_calls?.[0];
    last = call?.id ?? "";
    const asked = call?.type === "function" ? call.function : null;
    return {
      text: answer.content ?? "",
      command: asked ? commandOf(asked.arguments) : null,
      tool: asked?.name ?? null,
      id: completion.id,
      tokens: completion.usage!.prompt_tokens * completion.usage!.completion_tokens,
    };
  };
  return {
    say: (content) => next({ role: "user", content }),
    result: (content) => next({ role: "tool", tool_call_id: last, content }),
  };
}

function responsesDialogue(tool: string, stream: boolean): Dialogue {
  const said: OpenAI.Responses.ResponseInputItem[] = [];
  let last = "";
  const next = async (item: OpenAI.Responses.ResponseInputItem): Promise<Said> => {
    said.push(item);
    const tools = [{ type: "function" as const, name: tool, parameters, strict: false }];
    const request = { model: "m", input: said, tools };
    const response: OpenAI.Responses.Response = stream
      ? await openai.responses.stream(request).finalResponse()
      : await openai.responses.create(request);
    said.push(...(response.output as OpenAI.Responses.ResponseInputItem[]));
    const call = response.output.find((each) => each.type === "function_call");
    last = call?.call_id ?? "";
    return {
      text: response.output_text,
      command: call ? commandOf(call.arguments) : null,
      tool: call?.name ?? null,
      id: response.id,
      tokens: response.usage!.input_tokens * response.usage!.output_tokens,
    };
  };
  return {
    say: (content) => next({ role: "user", content }),
    result: (output) => next({ type: "function_call_output", call_id: last, output }),
  };
}

describe.each([
  ["Messages, streamed", messagesDialogue, true, "Bash"],
  ["Messages, whole", messagesDialogue, false, "bash"],
  ["Chat Completions, streamed", chatDialogue, true, "exec"],
  ["Chat Completions, whole", chatDialogue, false, "bash"],
  ["Responses, streamed", responsesDialogue, true, "shell"],
  ["Responses, whole", responsesDialogue, false, "bash"],
])("%s", (_format, dialogue, stream, tool) => {
  test("it says what it is and remembers the conversation that it is sent", async () => {
    const conversation = dialogue(tool, stream);
    const first = await conversation.say("I am Ada.");
    expect(first.text).toMatch(/demonstration.*message 1.*“I am Ada\.”/s);
    expect(first.tokens).toBeGreaterThan(0);
    const second = await conversation.say("And I?");
    expect(second.text).toMatch(/message 2.*“And I\?”.*“I am Ada\.”/s);
    expect(second.id).not.toBe(first.id);
  });

  test("a line `run: COMMAND` calls the shell tool and returns its output", async () => {
    const conversation = dialogue(tool, stream);
    expect(await conversation.say("Please\nrun: uname -a \nthanks")).toMatchObject({ tool, command: "uname -a" });
    const told = await conversation.result("Linux ada");
    expect(told).toMatchObject({ command: null, text: expect.stringContaining("Linux ada") });
    expect(await conversation.say("[Sat 2026-11-21 12:00 UTC] run: date")).toMatchObject({ command: "date" });
  });

  test("output is a code block, which is shortened where it is long", async () => {
    const conversation = dialogue(tool, stream);
    const outputOf = async (output: string) => {
      await conversation.say("run: date");
      return (await conversation.result(output)).text;
    };
    expect(await outputOf("one\ntwo\n")).toContain("It printed:\n\n```\none\ntwo\n```");
    expect(await outputOf("```js\n````\n")).toContain("\n\n`````\n```js\n````\n`````");
    expect(await outputOf(" ")).toContain("printed");
    const long = await outputOf(Array.from({ length: 3_000 }, (_, at) => `line ${at}`).join("\n"));
    expect(long).toContain("line 19\n… 2900 lines …\nline 2920\n");
  });

  test("without a shell tool it says so", async () => {
    expect((await dialogue("read", stream).say("run: date")).text).toMatch(/no shell tool/);
  });
});

test("a body that is no request is refused in the API's own shape", async () => {
  const { signal } = new AbortController();
  for (const wire of [messages, countTokens, chat, responses]) {
    for (const body of ["nonsense", "null", "[]", ...(wire === countTokens ? [] : ["{}"])]) {
      const answer = await demo({
        ...{ wire, model: "", streamed: false, query: "", headers: {} },
        body: Buffer.from(body),
        signal,
      });
      expect(answer.status).toBe(400);
      const text = (await Array.fromAsync(answer.body)).join("");
      expect((JSON.parse(text) as { error: { message: string } }).error.message).toMatch(/body/);
    }
  }
});

test("tokens are counted without an answer", async () => {
  const counted = await anthropic.messages.countTokens({ model: "m", messages: [{ role: "user", content: "hello" }] });
  expect(counted.input_tokens).toBeGreaterThan(10);
});
