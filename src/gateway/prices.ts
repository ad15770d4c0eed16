import { calcPrice } from "@pydantic/genai-prices";
import type { ModelPrice } from "../contract/models.ts";
import type { TokenCounts } from "../service/ledger.ts";

/** A credit is a US cent; amounts are whole millionths of a credit. */
const microCreditsPerDollar = 100 * 1_000_000;
const million = 1_000_000;

/** The demo model's made-up price: 1 and 5 US dollars. */
const demoPrice: ModelPrice = {
  input: microCreditsPerDollar,
  output: 5 * microCreditsPerDollar,
  cacheRead: microCreditsPerDollar,
  cacheWrite: microCreditsPerDollar,
};

/** Model prices: the operator's, otherwise those of https://github.com/pydantic/genai-prices. */
export class Prices {
  readonly #own: ReadonlyMap<string, ModelPrice>;

  /** `own` maps model ids to prices. A key that ends in `*` matches a prefix; the longest match wins. */
  constructor(own: Readonly<Record<string, ModelPrice>> = {}) {
    this.#own = new Map(Object.entries({ "demo/demo": demoPrice, ...own }));
  }

  /** The price of a model's tokens in whole micro-credits, halves rounded up; null when it is not known. */
  priceOf(model: string, tokens: TokenCounts): number | null {
    const own = this.#ownPrice(model);
    const micro = own ? ownCost(own, tokens) : knownCost(model, tokens);
    return micro === null ? null : Math.round(micro);
  }

  #ownPrice(model: string): ModelPrice | undefined {
    const exact = this.#own.get(model);
    if (exact) return exact;
    const fitting = [...this.#own.keys()].filter((id) => id.endsWith("*") && model.startsWith(id.slice(0, -1)));
    const longest = fitting.sort((a, b) => b.length - a.length)[0];
    return longest === undefined ? undefined : this.#own.get(longest);
  }
}

function ownCost(price: ModelPrice, { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 }: TokenCounts): number {
  const plain = input - cacheRead - cacheWrite;
  const { input: ofInput, output: ofOutput, cacheRead: ofRead, cacheWrite: ofWrite } = price;
  return (plain * ofInput + output * ofOutput + cacheRead * ofRead + cacheWrite * ofWrite) / million;
}

function knownCost(model: string, tokens: TokenCounts): number | null {
  const slash = model.indexOf("/"); // A model's name may contain slashes.
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, cacheWriteHour = 0, webSearches = 0 } = tokens;
  const usage = {
    input_tokens: input,
    output_tokens: output,
    // The package rejects a kind of token that it has no price for, even with a count of 0.
    ...(cacheRead > 0 ? { cache_read_tokens: cacheRead } : {}),
    ...(cacheWrite > 0 ? { cache_write_tokens: cacheWrite } : {}),
    ...(cacheWriteHour > 0 ? { cache_write_1h_tokens: cacheWriteHour } : {}),
    ...(webSearches > 0 ? { web_searches: webSearches } : {}),
  };
  try {
    const price = calcPrice(usage, model.slice(slash + 1), { providerId: model.slice(0, slash) });
    return price ? price.total_price * microCreditsPerDollar : null;
  } catch {
    return null;
  }
}
