import { expect, test } from "vitest";
import { choiceOf, modelEntry } from "./opencode.ts";

test("a model is asked for over its provider's API, under a slot's name where opencode does not know its own", () => {
  expect(choiceOf("anthropic/claude-sonnet-5")).toEqual({ wire: "anthropic", name: "claude-sonnet-5", slot: null });
  expect(choiceOf("anthropic/claude-next-9")).toEqual({ wire: "anthropic", name: "claude-next-9", slot: "any" });
  expect(choiceOf("openai/gpt-5")).toEqual({ wire: "openai", name: "gpt-5", slot: null });
  expect(choiceOf("openai/gpt-12-next")).toEqual({ wire: "openai", name: "gpt-12-next", slot: "gpt-any" });
  expect(choiceOf("openai/o7-mini")).toEqual({ wire: "openai", name: "o7-mini", slot: "any" });
});

test("models that are not OpenAI's own reasoning ones are asked for with chat completions, slashes and all", () => {
  expect(choiceOf("openai/qwen/qwen3:8b")).toEqual({ wire: "openai-compatible", name: "qwen/qwen3:8b", slot: "any" });
  expect(choiceOf("openai/gpt-oss-120b")).toEqual({ wire: "openai-compatible", name: "gpt-oss-120b", slot: "any" });
  expect(choiceOf("openai/gpt-4o")).toEqual({ wire: "openai-compatible", name: "gpt-4o", slot: null });
});

test("the demonstration and no model at all are the warm one", () => {
  expect(choiceOf("demo/demo")).toEqual(choiceOf(null));
});

test("an unknown model has limits, and reasons only where its family does", () => {
  expect(modelEntry("anthropic", "claude-next-9").limit).toEqual({ context: 1_000_000, output: 64_000 });
  expect(modelEntry("anthropic", "claude-opus-4-5-20251101").limit.context).toBe(200_000);
  expect(modelEntry("anthropic", "claude-3-opus-latest")).toMatchObject({ reasoning: false, limit: { output: 4_096 } });
  expect(modelEntry("openai-compatible", "llama").reasoning).toBe(false);
});
