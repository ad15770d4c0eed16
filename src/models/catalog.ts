import type { ModelProvider } from "../contract/models.ts";
import type { Prices } from "./prices.ts";

/** A model that this installation can reach. Prices are in whole micro-credits per million tokens. */
interface CatalogModel {
  id: string;
  provider: ModelProvider;
  inputPrice: number | null;
  outputPrice: number | null;
}

export interface Catalog {
  /** By id. */
  models: CatalogModel[];
  /** Configured providers whose lists are not known: any of their model names may be valid. */
  untold: ModelProvider[];
}

export interface ModelSource {
  models(): Promise<string[]>;
}

/** How long a provider's list stays fresh, and how soon a failed fetch is retried. */
const freshMs = 5 * 60_000;
const failedMs = 15_000;

interface Listing {
  /** When to fetch the list again. */
  until: number;
  names: string[] | null;
}

/** The available models: the demo model, and what each configured provider lists. */
export class Models {
  readonly #sources: [ModelProvider, ModelSource][];
  readonly #prices: Prices;
  readonly #warn: (message: string, error: unknown) => void;
  readonly #listings = new Map<ModelProvider, Listing>();
  readonly #asking = new Map<ModelProvider, Promise<Listing>>();

  constructor(
    sources: Partial<Record<ModelProvider, ModelSource | null>>,
    prices: Prices,
    warn: (message: string, error: unknown) => void,
  ) {
    this.#sources = Object.entries(sources).filter(([, source]) => source) as [ModelProvider, ModelSource][];
    this.#prices = prices;
    this.#warn = warn;
  }

  /** Returns the providers' own lists. A stale list is returned at once and refreshed in the background. */
  async catalog(): Promise<Catalog> {
    const told = await Promise.all(
      this.#sources.map(async ([provider, source]) => ({ provider, names: await this.#names(provider, source) })),
    );
    const ids = told.flatMap(({ provider, names }) =>
      (names ?? []).map((name) => ({ provider, id: `${provider}/${name}` })),
    );
    return {
      models: [{ provider: "demo" as const, id: "demo/demo" }, ...ids]
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .map((model) => ({ ...model, ...pricesOf(this.#prices, model.id) })),
      untold: told.filter(({ names }) => names === null).map(({ provider }) => provider),
    };
  }

  async #names(provider: ModelProvider, source: ModelSource): Promise<string[] | null> {
    const known = this.#listings.get(provider);
    if (known && performance.now() < known.until) return known.names;
    const asking = this.#asking.get(provider) ?? this.#ask(provider, source);
    this.#asking.set(provider, asking);
    return (known ?? (await asking)).names;
  }

  /** Never rejects: when the fetch fails, the last list stays in use. */
  async #ask(provider: ModelProvider, source: ModelSource): Promise<Listing> {
    let listing: Listing;
    try {
      listing = { until: performance.now() + freshMs, names: await source.models() };
    } catch (error) {
      this.#warn(`the models of ${provider} could not be listed`, error);
      listing = { until: performance.now() + failedMs, names: this.#listings.get(provider)?.names ?? null };
    }
    this.#listings.set(provider, listing);
    this.#asking.delete(provider);
    return listing;
  }
}

/** Prices for a small request: some models charge more per token for large ones. */
function pricesOf(prices: Prices, id: string): Pick<CatalogModel, "inputPrice" | "outputPrice"> {
  return {
    inputPrice: perMillion(prices.priceOf(id, { input: 1000 })),
    outputPrice: perMillion(prices.priceOf(id, { output: 1000 })),
  };
}

function perMillion(ofThousand: number | null): number | null {
  return ofThousand === null ? null : ofThousand * 1000;
}
