import type { Log } from "../core/log.ts";
import type { ReachableProvider } from "../providers/directory.ts";
import type { PricedModel, Prices } from "./prices.ts";

/** A model that an account can reach. Prices are in whole micro-credits per million tokens. */
export interface CatalogModel extends Priced {
  id: string;
  provider: ReachableProvider | "demo";
}

interface Priced {
  inputPrice: number | null;
  outputPrice: number | null;
}

export interface Catalog {
  /** By id, always including the demonstration model. */
  models: CatalogModel[];
  /** Providers whose models are not known: any of their models' names may be valid. */
  unlisted: ReachableProvider[];
}

/** How long a provider's list stays fresh, and how soon a failed fetch is retried. */
const freshMs = 5 * 60_000;
const failedMs = 15_000;

interface Listing {
  /** When to fetch the list again. */
  until: number;
  names: string[] | null;
}

/** The models of providers, as these list them or their owners have set them. */
export class Catalogs {
  readonly #prices: Prices;
  readonly #log: Log;
  /** By the provider's connections, which a change of the provider replaces. */
  readonly #listings = new WeakMap<object, Listing>();
  readonly #asking = new WeakMap<object, Promise<Listing>>();

  constructor(prices: Prices, log: Log) {
    this.#prices = prices;
    this.#log = log;
  }

  /** A stale list is returned at once and refreshed in the background. */
  async of(providers: readonly ReachableProvider[]): Promise<Catalog> {
    const known = await Promise.all(
      providers.map(async (provider) => ({ provider, names: await this.#names(provider) })),
    );
    const models = known.flatMap(({ provider, names }) =>
      (names ?? []).map((name) => this.#model(provider, `${provider.state.name}/${name}`)),
    );
    return {
      models: [this.#model("demo", "demo/demo"), ...models].sort((a, b) => (a.id < b.id ? -1 : 1)),
      unlisted: known.filter(({ names }) => names === null).map(({ provider }) => provider),
    };
  }

  #model(provider: ReachableProvider | "demo", id: string): CatalogModel {
    const { kind, baseUrl } = provider === "demo" ? { kind: "demo" as const, baseUrl: null } : provider.state;
    return { id, provider, ...pricesOf(this.#prices, { id, kind, baseUrl }) };
  }

  async #names(provider: ReachableProvider): Promise<string[] | null> {
    const { state, upstream } = provider;
    if (state.models) return state.models;
    if (!upstream) return [];
    const known = this.#listings.get(upstream);
    if (known && performance.now() < known.until) return known.names;
    const asking = this.#asking.get(upstream) ?? this.#ask(provider);
    this.#asking.set(upstream, asking);
    return (known ?? (await asking)).names;
  }

  /** Never rejects: when the fetch fails, the last list stays in use. */
  async #ask({ state, upstream }: ReachableProvider): Promise<Listing> {
    let listing: Listing;
    try {
      listing = { until: performance.now() + freshMs, names: await upstream!.models() };
    } catch (error) {
      this.#log("the models of a provider could not be listed", { provider: state.kind, error });
      listing = { until: performance.now() + failedMs, names: this.#listings.get(upstream!)?.names ?? null };
    }
    this.#listings.set(upstream!, listing);
    this.#asking.delete(upstream!);
    return listing;
  }
}

/** Prices for a small request: some models charge more per token for large ones. */
function pricesOf(prices: Prices, model: PricedModel): Priced {
  return {
    inputPrice: perMillion(prices.priceOf(model, { input: 1000 })),
    outputPrice: perMillion(prices.priceOf(model, { output: 1000 })),
  };
}

function perMillion(ofThousand: number | null): number | null {
  return ofThousand === null ? null : ofThousand * 1000;
}
