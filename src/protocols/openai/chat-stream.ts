import type { Fault } from "../../contract/agents.ts";
import type { SequencedEvent, TurnEvent, Usage } from "../../contract/chat.ts";
import { hexOf } from "../../contract/ids.ts";
import { KeptText } from "./kept-text.ts";
import type { BegunResponse } from "./stored-responses.ts";
import { StretchUsage } from "./stretch-usage.ts";

type FunctionCall = Extract<TurnEvent, { type: "response.function_call" }>;

/** A delta of an answer. `reasoning_content` is read by chat front ends; OpenAI's reference lacks it. */
interface Delta {
  role?: "assistant";
  content?: string;
  reasoning_content?: string;
  tool_calls?: object[];
}

/** Why an answer ended; null for one that continues, or that broke off. */
type Finish = "stop" | "tool_calls" | null;

/** A turn's events as the chunks of a chat completion, and joined as its answer. */
export class ChatStream {
  readonly #head: { id: string; created: number; model: string };
  readonly #withUsage: boolean;
  /** Whether the answer is JSON. The agent's other texts are then shown as its reasoning. */
  readonly #isStructured: boolean;
  readonly #text: string[] = [];
  readonly #reasoning: string[] = [];
  readonly #kept = new KeptText();
  readonly #stretch: StretchUsage;
  #call: FunctionCall | null = null;
  #usage: Usage | null = null;
  #ended = false;
  /** Why there is no complete answer. */
  fault: Fault | null = null;

  /** `model`: the agent's name. `withUsage`: a last chunk reports the usage. */
  constructor({ response, turn }: BegunResponse, model: string, withUsage: boolean) {
    const { id, createdAt } = response;
    const created = Math.floor(createdAt.getTime() / 1000);
    this.#head = { id: `chatcmpl-${hexOf(id)}`, created, model };
    this.#withUsage = withUsage;
    this.#isStructured = turn.outputSchema !== null;
    this.#stretch = new StretchUsage(response);
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** The first chunk, which comes before the turn's events. */
  begin(): object[] {
    return [this.#chunk({ role: "assistant", content: "" })];
  }

  /** The chunks of more of the turn's events. */
  take(batch: readonly SequencedEvent[]): object[] {
    return batch.flatMap((each) => (this.#ended || !this.#stretch.isWithin(each) ? [] : this.#take(each.event)));
  }

  /** The complete answer. */
  get object() {
    const call = this.#call && { tool_calls: [toolCallOf(this.#call)] };
    const reasoning = this.#reasoning.length > 0 && { reasoning_content: this.#reasoning.join("") };
    const content = this.#text.join("") || (call ? null : "");
    return {
      ...this.#head,
      object: "chat.completion" as const,
      choices: [
        {
          index: 0,
          message: { role: "assistant", content, refusal: null, ...reasoning, ...call },
          finish_reason: call ? "tool_calls" : this.#kept.isCut ? "length" : "stop",
          logprobs: null,
        },
      ],
      usage: usageOf(this.#usage),
    };
  }

  #take(event: TurnEvent): object[] {
    switch (event.type) {
      case "response.output_text.delta":
        return this.#isStructured ? this.#think(event.delta) : this.#say(event.delta);
      case "response.reasoning_text.delta":
        return this.#think(event.delta);
      case "response.function_call":
        this.#call = event;
        return [
          this.#chunk({ tool_calls: [{ index: 0, ...toolCallOf(event) }] }),
          ...this.#end("tool_calls", event.usage),
        ];
      case "response.completed":
        return [...(event.output ? this.#say(JSON.stringify(event.output)) : []), ...this.#end("stop", event.usage)];
      case "response.failed":
        this.fault = event.error;
        return this.#fail();
      case "response.cancelled":
        this.fault = { code: "turn_cancelled", message: "The turn was cancelled." };
        return this.#fail();
      default: // Chat Completions have no event for tools and the machine's state.
        return [];
    }
  }

  #say(content: string): object[] {
    this.#text.push(this.#kept.take(content));
    return [this.#chunk({ content })];
  }

  #think(reasoning_content: string): object[] {
    this.#reasoning.push(this.#kept.take(reasoning_content));
    return [this.#chunk({ reasoning_content })];
  }

  #end(finish: Finish, usage: Usage | undefined): object[] {
    this.#ended = true;
    this.#usage = this.#stretch.of(usage);
    const last = this.#chunk({}, finish);
    return this.#withUsage ? [last, { ...this.#chunk({}), choices: [], usage: usageOf(this.#usage) }] : [last];
  }

  /** Clients throw on a chunk that is an error. */
  #fail(): object[] {
    this.#ended = true;
    const { code, message } = this.fault!;
    return [{ error: { message, type: "server_error", param: null, code } }];
  }

  #chunk(delta: Delta, finish: Finish = null) {
    const choices = [{ index: 0, delta, finish_reason: finish, logprobs: null }];
    return { ...this.#head, object: "chat.completion.chunk", choices, ...(this.#withUsage ? { usage: null } : {}) };
  }
}

function toolCallOf({ callId, name, arguments: json }: FunctionCall) {
  return { id: callId, type: "function", function: { name, arguments: json } };
}

/** Zeros if unknown. */
function usageOf(usage: Usage | null) {
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, reasoningTokens = 0 } = usage ?? {};
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cacheReadTokens },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  };
}
