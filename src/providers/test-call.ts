import { BerthError } from "../contract/errors.ts";
import type { ProviderTest } from "../contract/providers.ts";
import { prepare } from "../models/preparation.ts";
import { beginningOf, LoginFailed, Unreachable } from "../models/provider.ts";
import { loggedOut, type Refusal, refusalOf, stalled, unreachable, unreadable } from "../models/refusal.ts";
import { chat } from "../models/wires/chat.ts";
import { generateContent } from "../models/wires/gemini.ts";
import { messages } from "../models/wires/messages.ts";
import { responses } from "../models/wires/responses.ts";
import type { Wire } from "../models/wires/wire.ts";
import { type ReachableProvider, speaks } from "./directory.ts";
import { ListRefused, reasonOf } from "./upstream.ts";

const timeoutMs = 30_000;

/**
 * Calls a model for one token, as an agent's call would; null: the provider's first. A list of models that cannot be had is
 * a failed test, too. Throws `request_invalid` if the provider lists no models and none is given.
 */
export async function testCall(provider: ReachableProvider, model: string | null): Promise<ProviderTest> {
  const { state, upstream } = provider;
  const begun = performance.now();
  const result = (named: string, refusal: Refusal | null): ProviderTest => ({
    ok: refusal === null,
    model: named,
    durationMs: Math.round(performance.now() - begun),
    error: refusal && { code: refusal.fault.code, message: refusal.fault.message },
  });
  if (!upstream) return result(model ?? "", unreadable(state.name, state.problem));
  let listed: string[] | null;
  try {
    listed = model === null ? (state.models ?? (await upstream.models())) : [model];
  } catch (error) {
    return result("", refusalOfList(error));
  }
  const named = listed?.[0];
  if (named === undefined)
    throw new BerthError("request_invalid", `model: the provider ${state.name} lists no models; name one.`);
  return result(named, await refusalFrom(upstream, state.kind, named));
}

function refusalOfList(error: unknown): Refusal {
  if (error instanceof ListRefused) return refusalOf(error.status, error.text, undefined);
  if (error instanceof LoginFailed) return loggedOut(error);
  return unreachable(reasonOf(error));
}

async function refusalFrom(
  { ask, endpoint }: NonNullable<ReachableProvider["upstream"]>,
  kind: ReachableProvider["state"]["kind"],
  model: string,
): Promise<Refusal | null> {
  const all = [messages, chat, responses, generateContent];
  const wire: Wire = all.find(({ name }) => speaks(kind, name, model))!;
  // Newer models of OpenAI's take only the second name, and most compatible servers only the first.
  const limit = kind === "openai" || kind === "azure" ? { max_completion_tokens: 1 } : { max_tokens: 1 };
  const asked =
    wire === responses
      ? { instructions: "Answer with one word.", input: [{ role: "user", content: "Hi" }], stream: true }
      : wire === generateContent
        ? { contents: [{ role: "user", parts: [{ text: "Hi" }] }], generationConfig: { maxOutputTokens: 1 } }
        : { ...limit, messages: [{ role: "user", content: "Hi" }] };
  const body = Buffer.from(JSON.stringify({ model, ...asked }));
  const framing = endpoint.framing && { kind: endpoint.framing, betas: [] };
  const prepared = prepare({ path: wire.path, body, owner: { id: "test", instructions: null }, framing, model: null });
  if ("problem" in prepared) return refusalOf(400, prepared.problem, undefined);
  const signal = AbortSignal.timeout(timeoutMs);
  const headers = {
    "content-type": "application/json",
    accept: "application/json",
    ...(wire === messages && { "anthropic-version": "2023-06-01" }),
  };
  try {
    const answer = await ask({
      wire,
      model,
      streamed: wire === responses,
      query: "",
      headers,
      body: prepared.body,
      signal,
    });
    const text = await beginningOf(answer.body);
    return answer.status < 400 ? null : refusalOf(answer.status, text, answer.headers["retry-after"]);
  } catch (error) {
    if (signal.aborted) return stalled(timeoutMs);
    if (error instanceof Unreachable) return unreachable(error.message);
    if (error instanceof LoginFailed) return loggedOut(error);
    throw error;
  }
}
