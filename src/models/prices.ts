import { calcPrice, findProvider } from "@pydantic/genai-prices";
import type { TokenCounts } from "../billing/ledger.ts";
import type { ModelPrice } from "../contract/models.ts";
import type { ProviderKind } from "../contract/providers.ts";

/** A credit is a US cent; amounts are whole millionths of a credit. */
const microCreditsPerDollar = 100 * 1_000_000;
const million = 1_000_000;

/** The demo model's made-up price: 1 and 5 US dollars. */
const demoPrice: ModelPrice = {
  input: microCreditsPerDollar,
  output: 5 * microCreditsPerDollar,
  cacheRead: microCreditsPerDollar,
  cacheWrite: microCreditsPerDollar,
  cacheWriteHour: microCreditsPerDollar,
  inputAudio: microCreditsPerDollar,
  outputAudio: 5 * microCreditsPerDollar,
  webSearch: null,
};

/** The demo model's made-up context, in tokens. */
const demoContext = 200_000;

/** A model as the price lists know it. */
export interface PricedModel {
  /** `provider/name`, as the operator's own prices have it. */
  id: string;
  /** The kind and address of its provider, by which the public list has it. */
  kind: ProviderKind | "demo";
  baseUrl: string | null;
}

/** The providers of the public list. A compatible server is found by its address. */
const listed: Record<Exclude<PricedModel["kind"], "openai-compatible">, string> = {
  anthropic: "anthropic",
  openai: "openai",
  google: "google",
  azure: "azure",
  bedrock: "aws",
  vertex: "google",
  claude: "anthropic",
  chatgpt: "openai",
  demo: "demo",
};

/** Model prices: the operator's, otherwise those of https://github.com/pydantic/genai-prices. */
export class Prices {
  /** Whether models and tools without a price may be used, for free. */
  readonly allowUnpriced: boolean;
  readonly #own: ReadonlyMap<string, ModelPrice>;

  /** `own` maps model ids to prices. A key that ends in `*` matches a prefix; the longest match wins. */
  constructor(own: Readonly<Record<string, ModelPrice>> = {}, allowUnpriced = false) {
    this.allowUnpriced = allowUnpriced;
    this.#own = new Map(Object.entries({ "demo/demo": demoPrice, ...own }));
  }

  /** The price of a model's tokens in whole micro-credits, halves rounded up; null when it is not known. */
  priceOf(model: PricedModel, tokens: TokenCounts): number | null {
    const own = this.#ownPrice(model.id);
    const micro = own ? ownCost(own, tokens) : knownCost(model, tokens);
    return micro === null ? null : Math.round(micro);
  }

  /**
   * Whether the price of a web search by the model's provider is known. The package knows it wherever searches are
   * counted.
   */
  hasPriceOfSearch({ id }: PricedModel): boolean {
    return this.#ownPrice(id)?.webSearch !== null;
  }

  /** The most tokens of input and output that a model takes in one call; null when it is not known. */
  contextOf(model: PricedModel): number | null {
    if (model.kind === "demo") return demoContext;
    return knownPrice(model, { input_tokens: 1 })?.model.context_window ?? null;
  }

  #ownPrice(model: string): ModelPrice | undefined {
    const exact = this.#own.get(model);
    if (exact) return exact;
    const fitting = [...this.#own.keys()].filter((id) => id.endsWith("*") && model.startsWith(id.slice(0, -1)));
    const longest = fitting.sort((a, b) => b.length - a.length)[0];
    return longest === undefined ? undefined : this.#own.get(longest);
  }
}

/** The kinds of tokens that each kind includes. */
const included = {
  input: ["cacheRead", "cacheWrite", "inputAudio"],
  cacheWrite: ["cacheWriteHour"],
  output: ["outputAudio"],
} as const;
const kinds = ["input", "output", "cacheRead", "cacheWrite", "cacheWriteHour", "inputAudio", "outputAudio"] as const;

function ownCost(price: ModelPrice, tokens: TokenCounts): number {
  const plain = (kind: (typeof kinds)[number]) => {
    const others = kind in included ? included[kind as keyof typeof included] : [];
    return others.reduce((left, other) => left - (tokens[other] ?? 0), tokens[kind] ?? 0);
  };
  const perMillion = kinds.reduce((sum, kind) => sum + plain(kind) * price[kind], 0);
  return perMillion / million + (tokens.webSearches ?? 0) * (price.webSearch ?? 0);
}

function knownCost(model: PricedModel, tokens: TokenCounts): number | null {
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, cacheWriteHour = 0, webSearches = 0 } = tokens;
  const { inputAudio = 0, outputAudio = 0 } = tokens;
  const usage = {
    input_tokens: input,
    output_tokens: output,
    // The package rejects a kind of token that it has no price for, even with a count of 0.
    ...(cacheRead > 0 ? { cache_read_tokens: cacheRead } : {}),
    ...(cacheWrite > 0 ? { cache_write_tokens: cacheWrite } : {}),
    ...(cacheWriteHour > 0 ? { cache_write_1h_tokens: cacheWriteHour } : {}),
    ...(inputAudio > 0 ? { input_audio_tokens: inputAudio } : {}),
    ...(outputAudio > 0 ? { output_audio_tokens: outputAudio } : {}),
    ...(webSearches > 0 ? { web_searches: webSearches } : {}),
  };
  const price = knownPrice(model, usage);
  return price ? price.total_price * microCreditsPerDollar : null;
}

/** The package's price and description of a model; null if it does not know the model, or a kind of token of it. */
function knownPrice({ id, kind, baseUrl }: PricedModel, usage: Parameters<typeof calcPrice>[0]) {
  try {
    // A model's name may contain slashes.
    const name = id.slice(id.indexOf("/") + 1);
    const provider =
      kind === "openai-compatible"
        ? findProvider({ providerApiUrl: baseUrl ?? "" })
        : findProvider({ providerId: listed[kind] });
    return provider ? calcPrice(usage, name, { provider }) : null;
  } catch {
    return null;
  }
}
