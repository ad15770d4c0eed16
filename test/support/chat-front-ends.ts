import { randomUUID } from "node:crypto";

// The requests that chat front ends send to an OpenAI-compatible server, after their public sources: Open WebUI
// (backend/open_webui/routers/openai.py, routers/tasks.py, utils/headers.py) and LibreChat
// (api/server/controllers/agents/client.js, packages/api/src/endpoints/custom).

interface Message {
  role: "system" | "user" | "assistant";
  content: string;
}

/** How a front end reaches its server, and how it names a chat and a task. */
export interface FrontEnd {
  url: string;
  key: string;
  model: string;
  headersOf: (chatId: string, task: string | null) => Record<string, string>;
  /** The fields of each message, and those of a request for a title. */
  fields: object;
  titleFields: object;
}

const user = { id: randomUUID(), name: "Ada%20Lovelace", email: "ada@example.com", role: "user" };

const forwardedUser = {
  "X-OpenWebUI-User-Name": user.name,
  "X-OpenWebUI-User-Id": user.id,
  "X-OpenWebUI-User-Email": user.email,
  "X-OpenWebUI-User-Role": user.role,
};

type Place = Pick<FrontEnd, "url" | "key" | "model">;

/** With `ENABLE_FORWARD_USER_INFO_HEADERS=true`. */
export function openWebUiWithForwarding(place: Place): FrontEnd {
  const headersOf = (chatId: string) => ({ ...forwardedUser, "X-OpenWebUI-Chat-Id": chatId });
  return { ...place, headersOf, fields: {}, titleFields: { max_completion_tokens: 1_000 } };
}

/** With the connection's headers `{"x-berth-chat": "{{CHAT_ID}}", "x-berth-task": "{{TASK}}"}`. */
export function openWebUiWithTemplates(place: Place): FrontEnd {
  const headersOf = (chatId: string, task: string | null) => ({ "x-berth-chat": chatId, "x-berth-task": task ?? "" });
  return { ...openWebUiWithForwarding(place), headersOf };
}

/** A custom endpoint with the header `x-berth-chat: "{{LIBRECHAT_BODY_CONVERSATIONID}}"`. */
export function libreChat(place: Place): FrontEnd {
  return {
    ...place,
    headersOf: (chatId) => ({ "x-berth-chat": chatId }),
    fields: { user: user.id, stream_options: { include_usage: true } },
    titleFields: { user: user.id, max_tokens: 75 },
  };
}

/** One chat of a front end: its branch of messages that is shown. */
export class FrontEndChat {
  readonly id = randomUUID();
  readonly #frontEnd: FrontEnd;
  messages: Message[];

  constructor(frontEnd: FrontEnd, messages: Message[] = []) {
    this.#frontEnd = frontEnd;
    this.messages = messages;
  }

  /** Sends a message and shows the reply, up to `stopAfter` characters: then the user stops it. */
  async send(content: string, stopAfter = Infinity): Promise<string> {
    this.messages = [...this.messages, { role: "user", content }];
    const reply = await this.#stream(this.messages, stopAfter);
    this.messages = [...this.messages, { role: "assistant", content: reply }];
    return reply;
  }

  /** Asks for the last reply once more. */
  regenerate(): Promise<string> {
    const { content } = this.messages.at(-2)!;
    this.messages = this.messages.slice(0, -2);
    return this.send(content);
  }

  /** Replaces the n-th message of the user and what follows. */
  edit(number: number, content: string): Promise<string> {
    const users = this.messages.flatMap(({ role }, index) => (role === "user" ? [index] : []));
    this.messages = this.messages.slice(0, users[number]);
    return this.send(content);
  }

  /** Lets the same model answer a message twice at once, as a chat with two models does. */
  both(content: string): Promise<string[]> {
    const messages: Message[] = [...this.messages, { role: "user", content }];
    return Promise.all([this.#stream(messages, Infinity), this.#stream(messages, Infinity)]);
  }

  title(): Promise<string> {
    return this.#task("title_generation", "Generate a concise, 3-5 word title.", this.#frontEnd.titleFields);
  }

  /** The requests of Open WebUI after a reply. */
  async tasks(): Promise<void> {
    await Promise.all([
      this.title(),
      this.#task("tags_generation", "Generate 1-3 broad tags."),
      this.#task("follow_up_generation", "Suggest 3-5 relevant follow-up questions."),
    ]);
  }

  async #task(task: string, instruction: string, fields: object = {}): Promise<string> {
    const said = this.messages.map(({ role, content }) => `${role.toUpperCase()}: ${content}`).join("\n");
    const content = `### Task:\n${instruction}\n### Chat History:\n<chat_history>\n${said}\n</chat_history>`;
    const messages = [{ role: "user", content }];
    const response = await this.post({ messages, stream: false, ...fields }, task);
    const { choices, error } = (await response.json()) as {
      choices?: { message: { content: string } }[];
      error?: { message: string };
    };
    if (!choices) throw new Error(`${response.status}: ${error?.message}`);
    return choices[0]!.message.content;
  }

  /** Sends a request about this chat. */
  post(body: object, task: string | null = null, signal: AbortSignal | null = null): Promise<Response> {
    const { url, key, model, headersOf } = this.#frontEnd;
    return fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        ...headersOf(this.id, task),
      },
      body: JSON.stringify({ model, ...body }),
      signal,
    });
  }

  async #stream(messages: readonly Message[], stopAfter: number): Promise<string> {
    const stop = new AbortController();
    const response = await this.post({ messages, stream: true, ...this.#frontEnd.fields }, null, stop.signal);
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
    let [buffered, reply] = ["", ""];
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
      const lines = (buffered + piece).split("\n");
      buffered = lines.pop()!;
      for (const line of lines) reply += deltaOf(line);
      if (reply.length < stopAfter) continue;
      stop.abort();
      break;
    }
    return reply;
  }
}

function deltaOf(line: string): string {
  if (!line.startsWith("data: {")) return "";
  const { choices, error } = JSON.parse(line.slice("data: ".length));
  if (error) throw new Error(error.message);
  return choices[0]?.delta.content ?? "";
}
