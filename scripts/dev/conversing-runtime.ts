import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import type { LastEvent, TurnEvent } from "../../src/contract/chat.ts";
import {
  allAbilities,
  latestSession,
  type Prompt,
  type Runtime,
  type Session,
  type StartContext,
} from "../../src/runtimes/runtime.ts";

const tools: Anthropic.Tool[] = [
  {
    name: "Bash",
    description: "Runs a shell command in the agent's home",
    input_schema: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
  },
];
const commandMs = 60_000;

/** A runtime for development: it calls models through the gateway, and runs commands as this machine's own user. */
export function conversingRuntime(name: string): Runtime {
  return {
    name,
    description: "A process on your machine.",
    package: "@anthropic-ai/sdk",
    abilities: { ...allAbilities, reasoning: { supported: false, reason: "The development runtime does not reason." } },
    memoryMiB: 1536,
    wires: ["messages"],
    defaultModels: ["anthropic/"],
    warmUp: [],
    start: async (context) => new ConversingSession(context),
  };
}

class ConversingSession implements Session {
  readonly #end = Promise.withResolvers<void>();
  readonly ended = this.#end.promise;
  readonly #models: Anthropic;
  readonly #home: string;
  id: string;

  constructor({ gatewayUrl, home, session }: StartContext) {
    this.#models = new Anthropic({ baseURL: `${gatewayUrl}/anthropic`, apiKey: "none", maxRetries: 0 });
    this.#home = home;
    this.id = session === null || session === latestSession ? randomUUID() : session;
  }

  async prompt({ message, model }: Prompt, emit: (event: TurnEvent) => void, signal: AbortSignal): Promise<LastEvent> {
    try {
      const messages = [...(await this.#read()), { role: "user" as const, content: message }];
      while (!signal.aborted) {
        const reply = await this.#ask(messages, model, emit, signal);
        messages.push({ role: "assistant", content: reply });
        const calls = reply.filter((part) => part.type === "tool_use");
        if (calls.length === 0) break;
        const results = await Promise.all(calls.map((call) => this.#run(call, emit, signal)));
        messages.push({ role: "user", content: results });
      }
      await writeFile(this.#file, JSON.stringify(messages));
      return signal.aborted ? { type: "response.cancelled" } : { type: "response.completed" };
    } catch (error) {
      if (signal.aborted) return { type: "response.cancelled" };
      return { type: "response.failed", error: { code: "runtime_failed", message: String(error) } };
    }
  }

  async steer(): Promise<boolean> {
    return false;
  }

  async enter(id: string | null): Promise<void> {
    this.id = id ?? randomUUID();
  }

  get #file(): string {
    return join(this.#home, `.conversation-${this.id}.json`);
  }

  stop(): void {
    this.#end.resolve();
  }

  async #read(): Promise<Anthropic.MessageParam[]> {
    return JSON.parse(await readFile(this.#file, "utf8").catch(() => "[]")) as Anthropic.MessageParam[];
  }

  async #ask(
    messages: Anthropic.MessageParam[],
    model: string | null,
    emit: (event: TurnEvent) => void,
    signal: AbortSignal,
  ): Promise<Anthropic.ContentBlock[]> {
    const name = model?.split("/")[1] ?? "default";
    const stream = this.#models.messages.stream({ model: name, max_tokens: 8_192, messages, tools }, { signal });
    stream.on("text", (delta) => emit({ type: "response.output_text.delta", delta }));
    return (await stream.finalMessage()).content;
  }

  async #run(
    { id, name, input }: Anthropic.ToolUseBlock,
    emit: (event: TurnEvent) => void,
    signal: AbortSignal,
  ): Promise<Anthropic.ToolResultBlockParam> {
    const { command } = input as { command: string };
    emit({ type: "response.tool_call.started", id, name, input: { command } });
    const output = await new Promise<string>((resolve) =>
      execFile("sh", ["-c", command], { cwd: this.#home, signal, timeout: commandMs }, (error, stdout, stderr) =>
        resolve(stdout + stderr || (error ? error.message : "")),
      ),
    );
    emit({ type: "response.tool_call.completed", id, output });
    return { type: "tool_result", tool_use_id: id, content: output };
  }
}
