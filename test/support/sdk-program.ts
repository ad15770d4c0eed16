import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

// A program as an agent would write it, with the providers' official packages. It is bundled to run in a guest. Its
// arguments are the gateway's address and a model. Prints the responses as one line of JSON.

const [gateway = "", model = ""] = process.argv.slice(2);
const common = { apiKey: "none", maxRetries: 0 };
const anthropic = new Anthropic({ baseURL: `${gateway}/anthropic`, ...common });
const openai = new OpenAI({ baseURL: `${gateway}/openai/v1`, ...common });
const parameters = { type: "object" as const, properties: { command: { type: "string" } }, required: ["command"] };

/** An API's reply in text, streamed and whole, and the tool it calls for `run: …`. */
interface Heard {
  whole: string;
  streamed: string;
  deltas: number;
  tool: unknown;
}

async function messages(): Promise<Heard> {
  const asked = (content: string) => ({ model, max_tokens: 500, messages: [{ role: "user" as const, content }] });
  const textOf = ({ content }: Anthropic.Message) =>
    content.map((each) => (each.type === "text" ? each.text : "")).join("");
  let deltas = 0;
  const stream = anthropic.messages.stream(asked("hello")).on("text", () => deltas++);
  const tools = [{ name: "bash", input_schema: parameters }];
  const called = await anthropic.messages.stream({ ...asked("run: uname"), tools }).finalMessage();
  return {
    whole: textOf(await anthropic.messages.create(asked("hello"))),
    streamed: textOf(await stream.finalMessage()),
    deltas,
    tool: called.content.find((each) => each.type === "tool_use")?.input,
  };
}

async function chat(): Promise<Heard> {
  const asked = (content: string) => ({ model, messages: [{ role: "user" as const, content }] });
  const tools = [{ type: "function" as const, function: { name: "bash", parameters } }];
  const parts: string[] = [];
  for await (const { choices } of await openai.chat.completions.create({ ...asked("hello"), stream: true })) {
    const text = choices[0]?.delta.content;
    if (text) parts.push(text);
  }
  const called = await openai.chat.completions.create({ ...asked("run: uname"), tools });
  const call = called.choices[0]?.message.tool_calls?.[0];
  return {
    whole: (await openai.chat.completions.create(asked("hello"))).choices[0]?.message.content ?? "",
    streamed: parts.join(""),
    deltas: parts.length,
    tool: call?.type === "function" ? JSON.parse(call.function.arguments) : undefined,
  };
}

async function responses(): Promise<Heard> {
  const tools = [{ type: "function" as const, name: "bash", parameters, strict: false }];
  const parts: string[] = [];
  for await (const event of await openai.responses.create({ model, input: "hello", stream: true })) {
    if (event.type === "response.output_text.delta") parts.push(event.delta);
  }
  const called = await openai.responses.create({ model, input: "run: uname", tools });
  const call = called.output.find((each) => each.type === "function_call");
  return {
    whole: (await openai.responses.create({ model, input: "hello" })).output_text,
    streamed: parts.join(""),
    deltas: parts.length,
    tool: call && JSON.parse(call.arguments),
  };
}

/** How a package reports a refused call: its error class and the status. */
async function refusal(call: () => Promise<unknown>): Promise<string> {
  try {
    await call();
    return "answered";
  } catch (error) {
    return `${(error as Error).constructor.name} ${(error as { status?: number }).status}`;
  }
}

const said = [{ role: "user" as const, content: "be refused" }];
const answers = {
  messages: await messages(),
  chat: await chat(),
  responses: await responses(),
  tokens: await anthropic.messages
    .countTokens({ model, messages: [{ role: "user", content: "hello" }] })
    .then(({ input_tokens }) => input_tokens)
    .catch((error: { status?: number }) => `refused with ${error.status}`),
  refusals: [
    await refusal(() => anthropic.messages.create({ model, max_tokens: 5, messages: said })),
    await refusal(() => openai.chat.completions.create({ model, messages: said })),
    await refusal(() => openai.responses.create({ model, input: "be refused" })),
    await refusal(() => anthropic.models.list()),
    await refusal(() => openai.models.list()),
    await refusal(() => openai.embeddings.create({ model, input: "hello" })),
  ],
};
console.log(JSON.stringify(answers));
