import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { EventSourceParserStream } from "eventsource-parser/stream";
import type { TurnEvent } from "../../src/contract/chat.ts";
import { requireDescribed } from "./wire.ts";

/** A response. Its body is parsed if it is JSON. */
export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
  body: any;
}

/** A streamed reply. */
export interface Reply {
  turnId: string;
  events: { id: number; event: TurnEvent }[];
  /** All deltas joined. */
  text: string;
}

/** A client that calls the server's API. */
export class TestClient {
  readonly url: string;
  readonly key: string;
  /** The workspace to act in; null: the key's own, or the personal one. */
  readonly workspace: string | null;

  constructor(url: string, key: string, workspace: string | null = null) {
    this.url = url;
    this.key = key;
    this.workspace = workspace;
  }

  /** A client with the operator key from the data folder. */
  static async ofOperator(url: string, dataFolder: string): Promise<TestClient> {
    return new TestClient(url, (await readFile(join(dataFolder, "operator.key"), "utf8")).trim());
  }

  fetch(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(this.url + path, {
      method,
      headers: {
        authorization: `Bearer ${this.key}`,
        ...(this.workspace === null ? {} : { "berth-workspace": encodeURIComponent(this.workspace) }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
  }

  /** In tests, throws if the OpenAPI document does not describe the answer. */
  async call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await this.fetch(method, path, body, headers);
    const text = await response.text();
    const json = response.headers.get("content-type")?.includes("json");
    const answer = { status: response.status, headers: response.headers, body: json && text ? JSON.parse(text) : text };
    // Benchmarks measure without it.
    if (process.env.VITEST) requireDescribed(method, path, answer);
    return answer;
  }

  /** Creates an agent and waits until it is ready or has failed. */
  async createAgent(name: string, fields: Record<string, unknown> = {}): Promise<Answer> {
    return this.#settled(await this.call("POST", "/agents?wait=ready", { name, ...fields }));
  }

  /** Restarts an agent and waits until it is ready or has failed. */
  async restartAgent(name: string): Promise<Answer> {
    return this.#settled(await this.call("POST", `/agents/${name}/restart?wait=ready`));
  }

  /** The service waits for one minute; some runtimes take longer to start on a slow machine. */
  async #settled(answer: Answer): Promise<Answer> {
    let last = answer;
    while (last.body.status === "provisioning") {
      await new Promise((resolve) => setTimeout(resolve, 500));
      last = await this.call("GET", `/agents/${answer.body.name}`);
    }
    return last;
  }

  /** Sends a message and reads the reply to its end. */
  async chat(name: string, message: string, include: string[] = []): Promise<Reply> {
    const response = await this.fetch("POST", `/agents/${name}/chat`, { message, include });
    if (response.status !== 200) throw new Error(`chat: ${response.status} ${await response.text()}`);
    return readReply(response);
  }

  /** Sends a message and returns the reply's text. Throws if the turn does not complete. */
  async ask(name: string, message: string): Promise<string> {
    const { events, text } = await this.chat(name, message);
    const last = events.at(-1)!.event;
    if (last.type !== "response.completed") throw new Error(`The turn did not complete: ${JSON.stringify(last)}`);
    return text;
  }

  /** Reads a turn's events again. */
  async events(name: string, turnId: string, after = 0): Promise<Reply> {
    return readReply(
      await this.fetch(
        "GET",
        `/agents/${name}/turns/${turnId}/events?after=${after}&include=status,reasoning,tools,usage`,
      ),
    );
  }
}

/** A stream's events as they arrive. */
export async function* eventsOf(response: Response): AsyncGenerator<{ id: number; event: TurnEvent }> {
  const stream = response.body!.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  for await (const { id, data } of stream) yield { id: Number(id), event: JSON.parse(data) as TurnEvent };
}

async function readReply(response: Response): Promise<Reply> {
  const events = await Array.fromAsync(eventsOf(response));
  const text = events.map(({ event }) => (event.type === "response.output_text.delta" ? event.delta : "")).join("");
  return { turnId: response.headers.get("x-turn-id")!, events, text };
}

export function isToolEvent(event: TurnEvent): event is Extract<TurnEvent, { type: `response.tool_call.${string}` }> {
  return event.type.startsWith("response.tool_call.");
}

/** The number of conversation messages that the demonstration model reports receiving. Throws if it reports none. */
export function messageNumberIn(text: string): number {
  const number = /Your message (\d+) of this conversation/.exec(text)?.[1];
  if (number === undefined) throw new Error(`There is no message's number in: ${text}`);
  return Number(number);
}
