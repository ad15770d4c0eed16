import type { ChildProcess } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { LastEvent, TurnEvent } from "../contract/chat.ts";
import { type Effort, nearestEffort } from "../contract/effort.ts";
import { BerthError } from "../contract/errors.ts";
import { processor } from "../core/processor.ts";
import { asText } from "./message-text.ts";
import { environment, routeOf, writeConfiguration } from "./openclaw-configuration.ts";
import { OpenclawGateway } from "./openclaw-gateway.ts";
import { clearLeftovers } from "./openclaw-leftovers.ts";
import { isAnotherMachine, takePrepared } from "./openclaw-prepared.ts";
import { killTree, orderlyEndMs, replaceFile, spawnRuntime } from "./process.ts";
import { allAbilities, latestSession, type Prompt, type Runtime, type Session, type StartContext } from "./runtime.ts";

/**
 * OpenClaw (https://openclaw.ai) behind its own gateway's WebSocket. One request makes a turn with the given model, and
 * events report its progress. The observations here are from version 2026.9.6.
 */
export const openclaw: Runtime = {
  name: "openclaw",
  description: "An open-source personal assistant.",
  package: "openclaw",
  abilities: {
    ...allAbilities,
    reasoning: {
      supported: true,
      reason: "Only of Anthropic's models that its driver knows: OpenAI's Chat Completions do not tell it.",
    },
    steer: { supported: false, reason: "Berth does not use OpenClaw's own queue. Messages wait." },
    permissions: { supported: false, reason: "OpenClaw asks its own clients, which Berth does not carry yet." },
  },
  memoryMiB: 3072,
  wires: ["messages", "chat"],
  defaultModels: ["anthropic/claude-sonnet", "anthropic/claude", "openai/gpt-5", "openai/"],
  warmUp: [
    { message: "Good morning.", model: null },
    { message: "run: echo warm", model: null },
    { message: "run: true", model: "openai/gpt-4o" },
    { message: "Good night.", model: null },
  ],
  async start(context) {
    const token = randomBytes(24).toString("hex");
    const { packages } = context;
    const node = join(packages, processor.packages.node, "bin/node");
    await takePrepared(context);
    await writeConfiguration(context);
    await clearLeftovers(node, context, await isAnotherMachine(context));
    // The compile cache is valid for these arguments only.
    const args = ["--no-flush-bytecode", join(packages, "openclaw/openclaw.mjs"), "gateway", "run"];
    // It repeats every reply on its standard output, which nobody reads.
    const { child, ended } = await spawnRuntime(node, args, environment(context, token), "ignore", context);
    const cancel = new AbortController();
    void ended.then(() => cancel.abort(new Error("openclaw ended")));
    try {
      const gateway = await OpenclawGateway.connect(`ws://127.0.0.1:${context.runtimePort}`, token, cancel.signal);
      // Without the gateway the process is useless, and the next turn starts another. Where it ends in order, it writes its
      // compile cache and gives up its leases after that.
      void gateway.closed.then(() => sleep(orderlyEndMs)).then(() => killTree(child));
      return new OpenclawSession(gateway, child, ended, await sessionOf(context), context.stateFolder);
    } catch (error) {
      killTree(child);
      throw new BerthError("runtime_failed", `The runtime did not start: ${(error as Error).message}`, {
        cause: error,
      });
    }
  },
};

/** How long OpenClaw may take to end a cancelled turn before its process is killed. It takes 0.1 s. */
const cancelGraceMs = 5_000;

/** How long an interrupted run may take to report its end. */
const settleMs = 500;

/** Between two attempts to cancel a run that OpenClaw does not know yet. */
const cancelRetryMs = 100;

class OpenclawSession implements Session {
  readonly ended: Promise<void>;
  readonly #gateway: OpenclawGateway;
  readonly #child: ChildProcess;
  readonly #stateFolder: string;
  /** The session's level; undefined if unknown. */
  #effort: Effort | null | undefined;
  id: string;

  constructor(gateway: OpenclawGateway, child: ChildProcess, ended: Promise<void>, id: string, stateFolder: string) {
    this.#gateway = gateway;
    this.#child = child;
    this.ended = ended;
    this.id = id;
    this.#stateFolder = stateFolder;
  }

  async prompt(
    { message, model, effort }: Prompt,
    emit: (event: TurnEvent) => void,
    signal: AbortSignal,
  ): Promise<LastEvent> {
    if (signal.aborted) return { type: "response.cancelled" };
    const runId = randomUUID();
    const reader = new RunReader(runId, emit);
    const unsubscribe = this.#gateway.subscribe((event, payload) => reader.take(event, payload));
    const over = new AbortController();
    const cancelled = Promise.withResolvers<LastEvent>();
    let graceTimer: NodeJS.Timeout | undefined;
    const cancel = () => {
      void this.#cancel(runId, over.signal).then(() => cancelled.resolve({ type: "response.cancelled" }));
      graceTimer = setTimeout(() => this.stop(), cancelGraceMs); // It may not even acknowledge the cancel.
    };
    signal.addEventListener("abort", cancel, { once: true });
    try {
      const text = { message: asText(message), idempotencyKey: runId };
      const run = { ...text, ...routeOf(model), sessionKey: this.#sessionKey, deliver: false };
      await this.#choose(effort ?? null);
      const end = this.#gateway
        .request("agent", run)
        .then((answer) => lastEventOf(RunEnd.parse(answer), reader, signal));
      return await Promise.race([end, cancelled.promise]);
    } catch (error) {
      if (signal.aborted) return { type: "response.cancelled" };
      return failed((error as Error).message);
    } finally {
      over.abort();
      clearTimeout(graceTimer);
      signal.removeEventListener("abort", cancel);
      unsubscribe();
    }
  }

  /** For the session's turns from now on. */
  async #choose(effort: Effort | null): Promise<void> {
    if (effort === this.#effort) return;
    this.#effort = undefined;
    const level = effort === null ? null : nearestEffort(effort, levels);
    const thinkingLevel = level === "none" ? "off" : level;
    await this.#gateway.request("sessions.patch", { key: this.#sessionKey, thinkingLevel });
    this.#effort = effort;
  }

  async steer(): Promise<boolean> {
    return false;
  }

  async enter(id: string | null): Promise<void> {
    this.id = id ?? (await newSession(this.#stateFolder));
    this.#effort = undefined;
  }

  stop(): void {
    killTree(this.#child);
  }

  get #sessionKey(): string {
    return `agent:main:berth-${this.id}`;
  }

  /**
   * Interrupts a run as soon as OpenClaw knows it. Its model call and its commands end with it. Its response may come
   * seconds later; the next turn waits for it.
   */
  async #cancel(runId: string, over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      const answer = await this.#gateway
        .request("chat.abort", { sessionKey: this.#sessionKey, runId })
        .catch(() => undefined);
      if (Aborted.safeParse(answer).success) {
        await sleep(settleMs, undefined, { signal: over }).catch(() => {});
        return;
      }
      await sleep(cancelRetryMs, undefined, { signal: over }).catch(() => {});
    }
  }
}

/** OpenClaw refuses others for models that lack them. */
const levels = ["none", "minimal", "low", "medium", "high"] as const;

const Aborted = z.object({ aborted: z.literal(true) });

/** How a run ended. A cancelled run has the status `timeout`. */
const RunEnd = z.object({
  status: z.string(),
  summary: z.string().optional(),
  result: z
    .object({ payloads: z.array(z.object({ text: z.string().nullish(), isError: z.boolean().optional() })).nullish() })
    .optional(),
});

function lastEventOf({ status, summary, result }: z.infer<typeof RunEnd>, reader: RunReader, signal: AbortSignal) {
  if (signal.aborted) return { type: "response.cancelled" } as const;
  if (status !== "ok") return failed(summary ?? `OpenClaw ended the turn: ${status}`);
  const payloads = result?.payloads ?? [];
  const error = payloads.find(({ isError }) => isError);
  if (error) return failed(error.text ?? "OpenClaw ended the turn with an error.");
  // Text that OpenClaw held back until the end, because it might not have been meant for the user.
  if (reader.silent) reader.say(payloads.map(({ text }) => text ?? "").join("\n\n"));
  return { type: "response.completed" } as const;
}

function failed(message: string): LastEvent {
  return { type: "response.failed", error: { code: "runtime_failed", message } };
}

/**
 * An event of a run. The gateway collects text for 75 ms, but sends it before the next event of another kind.
 * https://docs.openclaw.ai/gateway/protocol/rpc-methods
 */
const RunEvent = z.discriminatedUnion("stream", [
  z.object({
    runId: z.string(),
    stream: z.literal("assistant"),
    data: z.object({
      /** The model message `itemId`: its whole text so far, and the new part. */
      text: z.string().optional(),
      delta: z.string().optional(),
      itemId: z.string().optional(),
      replace: z.boolean().optional(),
    }),
  }),
  z.object({ runId: z.string(), stream: z.literal("thinking"), data: z.object({ delta: z.string().optional() }) }),
  z.object({
    runId: z.string(),
    stream: z.literal("tool"),
    data: z.object({
      phase: z.enum(["start", "update", "result"]),
      toolCallId: z.string(),
      name: z.string().optional(),
      /** A description, with the result only. */
      meta: z.string().optional(),
      args: z.unknown().optional(),
      partialResult: z.unknown().optional(),
      result: z.unknown().optional(),
      isError: z.boolean().optional(),
    }),
  }),
]);
type RunEvent = z.infer<typeof RunEvent>;

/** Converts the events of an OpenClaw run to turn events. */
class RunReader {
  readonly #runId: string;
  readonly #emit: (event: TurnEvent) => void;
  /** The current model message, and the part of it already emitted. */
  #item = "";
  #sentText = "";
  silent = true;

  constructor(runId: string, emit: (event: TurnEvent) => void) {
    this.#runId = runId;
    this.#emit = emit;
  }

  take(name: string, payload: unknown): void {
    if (name !== "agent") return;
    const event = RunEvent.safeParse(payload).data;
    if (event?.runId !== this.#runId) return;
    switch (event.stream) {
      case "assistant":
        this.#takeText(event.data);
        break;
      case "thinking":
        if (event.data.delta) this.#emit({ type: "response.reasoning_text.delta", delta: event.data.delta });
        break;
      case "tool":
        this.#emit(toolEvent(event.data));
        break;
    }
  }

  say(delta: string): void {
    if (delta === "") return;
    this.silent = false;
    this.#emit({ type: "response.output_text.delta", delta });
  }

  /** Emitted text cannot be corrected. Of a replacement, only the added text is emitted. */
  #takeText({ text, delta, itemId = "", replace }: Extract<RunEvent, { stream: "assistant" }>["data"]): void {
    const another = itemId !== this.#item;
    if (another) [this.#item, this.#sentText] = [itemId, ""];
    const whole = text ?? this.#sentText + (delta ?? "");
    if (!whole.startsWith(this.#sentText)) return;
    const more = whole.slice(this.#sentText.length);
    if (more === "") return;
    this.#sentText = whole;
    // Separates the model's messages before and after a tool, as OpenClaw's own HTTP responses do.
    this.say(another && !this.silent && !replace ? `\n\n${more}` : more);
  }
}

function toolEvent(tool: Extract<RunEvent, { stream: "tool" }>["data"]): TurnEvent {
  const phases = { start: "started", update: "updated", result: "completed" } as const;
  const statuses = { start: "in_progress", update: "in_progress", result: tool.isError ? "failed" : "completed" };
  const output = tool.result ?? tool.partialResult;
  return {
    type: `response.tool_call.${phases[tool.phase]}`,
    id: tool.toolCallId,
    ...(tool.name === undefined ? {} : { name: tool.name }),
    ...(tool.meta === undefined ? {} : { title: tool.meta }),
    status: statuses[tool.phase],
    ...(tool.args === undefined ? {} : { input: tool.args }),
    ...(output === undefined ? {} : { output }),
  };
}

/** OpenClaw keeps each session on the agent's disk under its key, which ends with a number: 1, 2, …. */
async function sessionOf({ session, stateFolder }: StartContext): Promise<string> {
  if (session === latestSession) return String(await newestSession(stateFolder));
  return session ?? newSession(stateFolder);
}

async function newestSession(stateFolder: string): Promise<number> {
  return Number(await readFile(join(stateFolder, "openclaw-conversation"), "utf8").catch(() => 1));
}

/** The key's number of a session that does not exist yet. */
async function newSession(stateFolder: string): Promise<string> {
  const next = String((await newestSession(stateFolder)) + 1);
  await replaceFile(join(stateFolder, "openclaw-conversation"), next);
  return next;
}
