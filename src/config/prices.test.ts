import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readConfig } from "./env.ts";
import { ConfigError } from "./variables.ts";

const folder = mkdtempSync(join(tmpdir(), "berth-prices-"));
const file = join(folder, "prices.json");
afterAll(() => rmSync(folder, { recursive: true }));

function pricesOf(content: unknown) {
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return readConfig({ BERTH_PRICES_FILE: file }).prices;
}

test("prices are read in credits, and kept in micro-credits", () => {
  const prices = pricesOf({
    "openai/*": { inputPrice: "0.5", outputPrice: 2 },
    "anthropic/claude-x": { inputPrice: "300", outputPrice: "1500", cacheReadPrice: "30", cacheWritePrice: "375" },
    "openai/gpt-audio": {
      ...{ inputPrice: 1, outputPrice: 2, cacheWriteHourPrice: 3 },
      ...{ inputAudioPrice: 4, outputAudioPrice: 5, webSearchPrice: "1.5" },
    },
  });
  expect(prices["openai/*"]).toEqual({
    ...{ input: 500_000, output: 2_000_000, cacheRead: 500_000, cacheWrite: 500_000, cacheWriteHour: 500_000 },
    ...{ inputAudio: 500_000, outputAudio: 2_000_000, webSearch: null },
  });
  expect(prices["anthropic/claude-x"]).toMatchObject({
    ...{ input: 3e8, output: 15e8, cacheRead: 3e7, cacheWrite: 375e6, cacheWriteHour: 375e6 },
  });
  expect(prices["openai/gpt-audio"]).toMatchObject({
    ...{ cacheWrite: 1e6, cacheWriteHour: 3e6, inputAudio: 4e6, outputAudio: 5e6, webSearch: 1.5e6 },
  });
});

test("a file that cannot be used stops the start, and says what is wrong with it", () => {
  const wrong = (content: unknown) => () => pricesOf(content);
  expect(wrong({ "gpt-5": { inputPrice: "1", outputPrice: "1" } })).toThrow(/BERTH_PRICES_FILE.*gpt-5.*provider\/name/);
  expect(wrong({ "openai/x": { inputPrice: "-1", outputPrice: "1" } })).toThrow(ConfigError);
  expect(wrong({ "openai/x": { inputPrice: "1" } })).toThrow(/openai\/x\.outputPrice: This field is required\./);
  expect(wrong({ "openai/x": { inputPrice: 1, outputPrice: 1, price: 2 } })).toThrow(/price/);
  expect(wrong("not json")).toThrow(/BERTH_PRICES_FILE/);
  expect(() => readConfig({ BERTH_PRICES_FILE: join(folder, "none.json") })).toThrow(/BERTH_PRICES_FILE: ENOENT/);
});
