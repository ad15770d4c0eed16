import { expect, test } from "vitest";
import { type PricedModel, Prices } from "./prices.ts";

const dollar = 100_000_000;

/** A model of the provider that has its kind's name. */
function model(id: string): PricedModel {
  return { id, kind: id.slice(0, id.indexOf("/")) as PricedModel["kind"], baseUrl: null };
}

test("known models cost what the package says, each kind of token at its own price", () => {
  const prices = new Prices();
  const ofMillion = (tokens: Parameters<Prices["priceOf"]>[1]) =>
    prices.priceOf(model("anthropic/claude-haiku-4-5"), tokens);
  expect(ofMillion({ input: 1e6 })).toBe(1 * dollar);
  expect(ofMillion({ output: 1e6 })).toBe(5 * dollar);
  expect(ofMillion({ input: 1e6, cacheRead: 1e6 })).toBe(0.1 * dollar);
  expect(ofMillion({ input: 1e6, cacheWrite: 1e6 })).toBe(1.25 * dollar);
  expect(ofMillion({ input: 1e6, cacheWrite: 1e6, cacheWriteHour: 1e6 })).toBe(2 * dollar);
  // Reasoning is a part of the output.
  expect(ofMillion({ output: 1e6, reasoning: 5e5 })).toBe(5 * dollar);
  expect(ofMillion({ webSearches: 1_000 })).toBe(10 * dollar);
  expect(ofMillion({})).toBe(0);
  const audio = { input: 1e6, output: 1e6, inputAudio: 1e6, outputAudio: 1e6 };
  expect(prices.priceOf(model("openai/gpt-audio"), audio)).toBe((32 + 64) * dollar);
});

test("an unpriced model has no price until the operator sets one", () => {
  expect(new Prices().priceOf(model("openai/my-own-model"), { input: 1 })).toBeNull();
  const price = {
    ...{ input: 1e6, output: 2e6, cacheRead: 0, cacheWrite: 3e6, cacheWriteHour: 6e6 },
    ...{ inputAudio: 5e6, outputAudio: 9e6, webSearch: 7 },
  };
  const none = { output: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0, inputAudio: 0, outputAudio: 0 };
  const half = { ...none, input: 5e5, webSearch: null };
  const own = new Prices({ "openai/*": price, "openai/my-own-*": half, "anthropic/claude-haiku-4-5": half });
  expect(own.priceOf(model("openai/gpt-5"), { input: 10, output: 10, cacheRead: 4, cacheWrite: 1 })).toBe(5 + 20 + 3);
  // Writes for an hour are a part of all writes, and sound is a part of input and output.
  const all = {
    input: 10,
    output: 10,
    cacheWrite: 4,
    cacheWriteHour: 3,
    inputAudio: 2,
    outputAudio: 5,
    webSearches: 2,
  };
  expect(own.priceOf(model("openai/gpt-5"), all)).toBe(4 + 3 + 18 + 10 + 10 + 45 + 14);
  expect([own.hasPriceOfSearch(model("openai/gpt-5")), own.hasPriceOfSearch(model("openai/my-own-model"))]).toEqual([
    true,
    false,
  ]);
  expect(own.priceOf(model("openai/my-own-model"), { input: 10 })).toBe(5);
  expect(own.priceOf(model("openai/my-own-model"), { input: 1 })).toBe(1);
  expect(own.priceOf(model("anthropic/claude-haiku-4-5"), { input: 2 })).toBe(1);
  expect(own.priceOf(model("demo/demo"), { input: 1e6 })).toBe(1 * dollar);
});

test("other platforms' models cost what the package says of them", () => {
  const prices = new Prices();
  const ofMillion = (id: string, kind: PricedModel["kind"], baseUrl: string | null = null) =>
    prices.priceOf({ id, kind, baseUrl }, { input: 1e6 });
  expect(ofMillion("cloud/eu.anthropic.claude-haiku-4-5-20251001-v1:0", "bedrock")).toBeGreaterThan(0);
  expect(ofMillion("vertex/claude-haiku-4-5", "vertex")).toBe(1 * dollar);
  expect(ofMillion("google/gemini-2.5-flash", "google")).toBeGreaterThan(0);
  expect(ofMillion("azure/gpt-5", "azure")).toBeGreaterThan(0);
  expect(ofMillion("router/openai/gpt-5", "openai-compatible", "https://openrouter.ai/api/v1")).toBeGreaterThan(0);
  expect(ofMillion("mine/gpt-5", "openai-compatible", "http://127.0.0.1:8000/v1")).toBeNull();
});
