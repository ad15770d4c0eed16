import OpenAI from "openai";
import type {
  ChatCompletionMessageParam,
  ChatCompletionTool,
  ChatCompletionUserMessageParam,
} from "openai/resources/chat/completions";

// The requests of coding tools to an OpenAI-compatible server, after their public sources: Cline
// (src/core/api/providers/openai.ts at df613156, with native tool calls), Continue (core/llm/llms/OpenAI.ts at 732eb248)
// and Zed (crates/open_ai/src/open_ai.rs at 8c91fc31).

export interface EditorPlace {
  url: string;
  key: string;
  model: string;
}

/** The shown part of a reply. */
export interface Shown {
  text: string;
  calls: { id: string; name: string; arguments: string }[];
  totalTokens: number | null;
}

const readFileTool: ChatCompletionTool = {
  type: "function",
  function: {
    name: "read_file",
    description: "Reads a file of the workspace.",
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  },
};

/** A task of Cline: its system prompt, then each message with the environment, by the `openai` package. */
export class ClineTask {
  readonly #client: OpenAI;
  readonly #model: string;
  readonly #messages: ChatCompletionMessageParam[] = [
    { role: "system", content: "You are Cline, a highly skilled software engineer with extensive knowledge." },
  ];

  constructor({ url, key, model }: EditorPlace) {
    const defaultHeaders = { "x-berth-chat": "cline" };
    this.#client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, defaultHeaders, maxRetries: 0 });
    this.#model = model;
  }

  begin(task: string): Promise<Shown> {
    return this.#send({ role: "user", content: this.#parts(`<task>\n${task}\n</task>`) });
  }

  say(feedback: string): Promise<Shown> {
    return this.#send({ role: "user", content: this.#parts(feedback) });
  }

  /** The result of a tool, with the environment after it. */
  answer(id: string, result: string): Promise<Shown> {
    return this.#send({ role: "tool", tool_call_id: id, content: result });
  }

  #parts(text: string): ChatCompletionUserMessageParam["content"] {
    const environment = "<environment_details>\n# Current Mode\nACT MODE\n</environment_details>";
    return [text, environment].map((part) => ({ type: "text" as const, text: part }));
  }

  async #send(message: ChatCompletionMessageParam): Promise<Shown> {
    this.#messages.push(message);
    const stream = await this.#client.chat.completions.create({
      model: this.#model,
      messages: this.#messages,
      temperature: 0,
      stream: true,
      stream_options: { include_usage: true },
      tools: [readFileTool],
    });
    const shown = await shownOf(stream);
    this.#messages.push(assistantOf(shown));
    return shown;
  }
}

/** A session of Continue: plain requests with an additional `api-key`, and no `stream_options`. */
export class ContinueSession {
  readonly #place: EditorPlace;
  readonly #messages: ChatCompletionMessageParam[] = [
    { role: "system", content: "You are in chat mode. Always include the language and file name in code blocks." },
  ];

  constructor(place: EditorPlace) {
    this.#place = place;
  }

  async models(): Promise<string[]> {
    const response = await fetch(new URL("models", `${this.#place.url}/v1/`), { headers: this.#headers });
    return ((await response.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
  }

  async send(text: string): Promise<Shown> {
    this.#messages.push({ role: "user", content: text });
    // An empty message would be an error for other servers.
    const messages = this.#messages.map((message) => ({ ...message, content: message.content || " " }));
    const shown = await this.#stream({ messages, max_tokens: 4_096, temperature: 0.5, stop: [] });
    this.#messages.push(assistantOf(shown));
    return shown;
  }

  /** The title of the session, as its own chat of one message. */
  title(reply: string): Promise<Shown> {
    const content = `Given the following... please reply with a title for the chat that is 3-4 words in length:\n\n${reply}`;
    return this.#stream({ messages: [{ role: "user", content }], max_tokens: 12 });
  }

  get #headers(): Record<string, string> {
    const { key } = this.#place;
    const own = { "x-berth-chat": "continue" };
    return { "Content-Type": "application/json", Authorization: `Bearer ${key}`, "api-key": key, ...own };
  }

  async #stream(body: object): Promise<Shown> {
    const request = { model: this.#place.model, stream: true, ...body };
    return post(new URL("chat/completions", `${this.#place.url}/v1/`), this.#headers, request);
  }
}

/** A thread of Zed's agent panel: parts of text, limits, and a request for the thread's title with all its messages. */
export class ZedThread {
  readonly #place: EditorPlace;
  readonly #messages: ChatCompletionMessageParam[] = [
    { role: "system", content: "You are a highly skilled software engineer in Zed." },
  ];

  constructor(place: EditorPlace) {
    this.#place = place;
  }

  send(text: string): Promise<Shown> {
    return this.#next({ role: "user", content: text });
  }

  answer(id: string, result: string): Promise<Shown> {
    return this.#next({ role: "tool", tool_call_id: id, content: [{ type: "text", text: result }] });
  }

  title(): Promise<Shown> {
    const content = "Generate a concise 3-7 word title for this conversation, omitting punctuation.";
    return this.#stream([...this.#messages, { role: "user", content }], { temperature: 1 });
  }

  async #next(message: ChatCompletionMessageParam): Promise<Shown> {
    this.#messages.push(message);
    const tools = { tools: [readFileTool], tool_choice: "auto", parallel_tool_calls: false };
    const shown = await this.#stream(this.#messages, { max_completion_tokens: 32_000, temperature: 1, ...tools });
    this.#messages.push(assistantOf(shown));
    return shown;
  }

  #stream(messages: readonly ChatCompletionMessageParam[], fields: object): Promise<Shown> {
    const { url, key, model } = this.#place;
    const headers = { "Content-Type": "application/json", Authorization: `Bearer ${key}` };
    const body = { model, messages, stream: true, stream_options: { include_usage: true }, ...fields };
    return post(new URL(`${url}/v1/chat/completions`), headers, body);
  }
}

function assistantOf({ text, calls }: Shown): ChatCompletionMessageParam {
  const tool_calls = calls.map(({ id, ...called }) => ({ id, type: "function" as const, function: called }));
  return { role: "assistant", content: text === "" ? null : text, ...(tool_calls.length > 0 ? { tool_calls } : {}) };
}

async function post(url: URL, headers: Record<string, string>, body: object): Promise<Shown> {
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  const lines = (await response.text()).split("\n").filter((line) => line.startsWith("data: {"));
  return shownOf(lines.map((line) => JSON.parse(line.slice("data: ".length))));
}

/** Puts the pieces of a reply together: calls of functions arrive by their index. */
async function shownOf(
  chunks: AsyncIterable<OpenAI.ChatCompletionChunk> | Iterable<OpenAI.ChatCompletionChunk>,
): Promise<Shown> {
  const shown: Shown = { text: "", calls: [], totalTokens: null };
  for await (const { choices, usage } of chunks) {
    const delta = choices[0]?.delta;
    shown.text += delta?.content ?? "";
    for (const { index, id, function: called } of delta?.tool_calls ?? []) {
      const call = shown.calls[index] ?? { id: "", name: "", arguments: "" };
      shown.calls[index] = call;
      call.id += id ?? "";
      call.name += called?.name ?? "";
      call.arguments += called?.arguments ?? "";
    }
    shown.totalTokens = usage?.total_tokens ?? shown.totalTokens;
  }
  return shown;
}
