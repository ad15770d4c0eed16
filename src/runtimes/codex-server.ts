import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { z } from "zod";

/** A message of Codex's app server: one JSON object per line, JSON-RPC without its version. */
const Message = z.object({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
});

interface Waiting {
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
}

/** JSON-RPC's code for a method that does not exist. */
const unknownMethod = -32_601;

/** A connection to `codex app-server` on its standard input and output. https://developers.openai.com/codex/app-server */
export class CodexServer {
  readonly #child: ChildProcess;
  readonly #answer: (method: string, params: unknown) => Promise<object | null>;
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners = new Set<(method: string, params: unknown) => void>();
  #lastId = 0;
  #hasEnded = false;

  /** `answer` returns the result of a request of Codex's; null: it is refused. */
  constructor(
    child: ChildProcess,
    ended: Promise<void>,
    answer: (method: string, params: unknown) => Promise<object | null>,
  ) {
    this.#child = child;
    this.#answer = answer;
    createInterface({ input: child.stdout! })
      .on("line", (line) => this.#take(line))
      .on("error", () => {});
    void ended.then(() => {
      this.#hasEnded = true;
      for (const { reject } of this.#waiting.values()) reject(new Error("Codex ended"));
      this.#waiting.clear();
    });
  }

  /** Sends a request and resolves with its result. Rejects with Codex's own message, or when Codex ends. */
  request(method: string, params: object): Promise<unknown> {
    if (this.#hasEnded) return Promise.reject(new Error("Codex ended"));
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#send({ id, method, params });
    });
  }

  notify(method: string): void {
    this.#send({ method });
  }

  /** Calls `listener` with each notification until the returned function is called. */
  subscribe(listener: (method: string, params: unknown) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #send(message: object): void {
    this.#child.stdin!.write(`${JSON.stringify(message)}\n`);
  }

  #take(line: string): void {
    const message = parse(line);
    if (!message) return;
    const { id, method, params, result, error } = message;
    if (method !== undefined && id !== undefined) return void this.#serve(id, method, params);
    if (method !== undefined) {
      for (const listener of this.#listeners) listener(method, params);
      return;
    }
    const waiting = this.#waiting.get(Number(id));
    this.#waiting.delete(Number(id));
    if (error) waiting?.reject(new Error(error.message));
    else waiting?.resolve(result);
  }

  async #serve(id: string | number, method: string, params: unknown): Promise<void> {
    const result = await this.#answer(method, params).catch(() => null);
    this.#send(
      result ? { id, result } : { id, error: { code: unknownMethod, message: `${method} is not supported.` } },
    );
  }
}

function parse(line: string): z.infer<typeof Message> | undefined {
  try {
    return Message.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
