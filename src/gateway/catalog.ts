import type { ModelProvider } from "../contract/models.ts";
import type { Prices } from "./prices.ts";

/** A model that this installation can reach. Prices are in whole micro-credits for a million tokens. */
interface CatalogModel {
  id: string;
  provider: ModelProvider;
  inputPrice: number | null;
  outputPrice: number | null;
}

/** The models as far as they are known. */
export interface Catalog {
  /** By id. */
  models: CatalogModel[];
  /** Providers that are configured but have not told their models: any name of theirs may be good. */
  untold: ModelProvider[];
}

/** Where a provider's models are asked for. */
export interface ModelSource {
  models(): Promise<string[]>;
}

/** How long a provider's list is used before it is asked for again, and how soon after a failure. */
const freshMs = 5 * 60_000;
const failedMs = 15_000;

interface Listing {
  /** When it is to be asked for again. */
  until: number;
  names: string[] | null;
}

/** What models there are: the demonstration's, and what each configured provider's own list says. */
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

  /** The lists are the providers' own. An old one is answered at once, and a new one asked for beside that. */
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

  /** Never rejects: a list that cannot be had leaves the last one standing. */
  async #ask(provider: ModelProvider, source: ModelSource): Promise<Listing> {
    let listing: Listing;
    try {
      listing = { until: performance.now() + freshMs, names: await source.models() };
    } catch (error) {
      this.#warn(`the models of ${provider} are not known`, error);
      listing = { until: performance.now() + failedMs, names: this.#listings.get(provider)?.names ?? null };
    }
    this.#listings.set(provider, listing);
    this.#asking.delete(provider);
    return listing;
  }
}

/** Asked for few tokens: some models' price rises with the size of a request. */
function pricesOf(prices: Prices, id: string): Pick<CatalogModel, "inputPrice" | "outputPrice"> {
  return {
    inputPrice: perMillion(prices.priceOf(id, { input: 1000 })),
    outputPrice: perMillion(prices.priceOf(id, { output: 1000 })),
  };
}

function perMillion(ofThousand: number | null): number | null {
  return ofThousand === null ? null : ofThousand * 1000;
}
