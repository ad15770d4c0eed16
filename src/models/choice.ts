import { readFile } from "node:fs/promises";
import { toCredits } from "../billing/credits.ts";
import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";
import type { Model, ModelProvider } from "../contract/models.ts";
import { type AbilityName, abilityNames, type RuntimeRecord } from "../contract/runtimes.ts";
import { Models } from "./catalog.ts";

/** A user's information for choosing a runtime and its models. */
export interface RuntimeFacts {
  name: string;
  /** The runtime's npm package. */
  package: string;
  abilities: Record<AbilityName, true | { supported: boolean; reason: string }>;
  /** The providers whose models it can use, in addition to the demo model. */
  providers: readonly Exclude<ModelProvider, "demo">[];
  /** Its default models as id prefixes, best first; null: the runtime chooses. */
  defaultModels: readonly string[] | null;
}

/** The choices of this installation. */
export interface ReachableModels {
  /** Whether models without a price may be used. */
  allowUnpriced: boolean;
  /** The providers with a configured key. */
  configured: readonly Exclude<ModelProvider, "demo">[];
  /** Configured providers whose model list is unknown: any of their model names may be valid. */
  untold: readonly ModelProvider[];
  /** All known models by id, always including the demo model. */
  models: readonly ReachableModel[];
}

interface ReachableModel {
  id: string;
  provider: ModelProvider;
  /** In whole micro-credits per million tokens; null when unknown. */
  inputPrice: number | null;
  outputPrice: number | null;
}

/** The versions of the runtimes in the guest image. */
const runtimesLock = new URL("../../image/runtimes/package-lock.json", import.meta.url);

/** How many models an error's text names; its details contain all. */
const namedInText = 10;

const demoModel = "demo/demo";

/** Whether the runtime can use the provider's models. */
function fits(runtime: RuntimeFacts, provider: ModelProvider): boolean {
  return provider === "demo" || runtime.providers.includes(provider);
}

/** The models that the runtime can use here, with a price if one is required. */
function usable(runtime: RuntimeFacts, { models, allowUnpriced }: ReachableModels): ReachableModel[] {
  const fitting = models.filter(({ provider }) => fits(runtime, provider));
  return fitting.filter(
    ({ inputPrice, outputPrice }) => allowUnpriced || (inputPrice !== null && outputPrice !== null),
  );
}

/** Throws `model_not_available`, with the allowed models, if the runtime cannot use the model here. */
function requireModel(model: string, runtime: RuntimeFacts, reachable: ReachableModels): void {
  const fitting = usable(runtime, reachable);
  if (fitting.some(({ id }) => id === model)) return;
  const unpriced = reachable.models.some(({ id, provider }) => id === model && fits(runtime, provider));
  const untold = reachable.untold.filter((provider) => fits(runtime, provider));
  if (untold.some((provider) => model.startsWith(`${provider}/`) && model.length > provider.length + 1)) return;
  const available = [...fitting.map(({ id }) => id), ...untold.map((provider) => `${provider}/…`)];
  const more = available.length > namedInText ? ", … (GET /models lists them all)" : "";
  throw new BerthError(
    "model_not_available",
    `The model ${model} ${unpriced ? "has no price" : `is not available to ${runtime.name}`} here. Available: ${available.slice(0, namedInText).join(", ")}${more}.`,
    { details: { available } },
  );
}

/**
 * The default model. Null leaves the choice to the runtime, which then calls its first provider. Without any provider
 * it is the demo model. Throws `model_not_available` if the runtime can use none of the configured providers.
 */
function defaultModel(runtime: RuntimeFacts, reachable: ReachableModels): string | null {
  if (reachable.configured.length === 0) return demoModel;
  if (!reachable.configured.some((provider) => fits(runtime, provider))) {
    const needed = runtime.providers.map((provider) => `${provider.toUpperCase()}_API_KEY`).join(" or ");
    throw new BerthError(
      "model_not_available",
      `${runtime.name} has no model here: it needs ${needed}. Choose another runtime, or the model ${demoModel}.`,
      { details: { available: [demoModel] } },
    );
  }
  if (runtime.defaultModels === null) return null;
  const known = usable(runtime, reachable).filter(({ provider }) => provider !== "demo");
  for (const beginning of runtime.defaultModels) {
    // The last by name is the latest version.
    const found = known.findLast(({ id }) => id.startsWith(beginning));
    if (found) return found.id;
    if (reachable.untold.some((provider) => beginning.startsWith(`${provider}/`))) return beginning;
  }
  return known[0]?.id ?? demoModel;
}

/** Which models exist, which runtime can use which, and which one an agent gets. */
export class ModelChoice {
  readonly #runtimes: readonly RuntimeFacts[];
  readonly #catalog: Models;
  readonly #installation: Pick<ReachableModels, "allowUnpriced" | "configured">;
  #packages: Promise<Record<string, { version?: string }>> | null = null;

  constructor({ runtimes, config, providers, prices, log }: AppContext) {
    this.#runtimes = runtimes;
    this.#catalog = new Models(providers, prices, (message, error) => log(message, { error }));
    const configured = (["anthropic", "openai"] as const).filter((name) => providers[name] !== null);
    this.#installation = { allowUnpriced: config.allowUnpriced, configured };
  }

  async #reachable(): Promise<ReachableModels> {
    return { ...this.#installation, ...(await this.#catalog.catalog()) };
  }

  /** The version of an npm package in the guest image; null for one that is not in it. */
  async #version(npmPackage: string): Promise<string | null> {
    this.#packages ??= readFile(runtimesLock, "utf8").then((lock) => JSON.parse(lock).packages);
    return (await this.#packages)[`node_modules/${npmPackage}`]?.version ?? null;
  }

  /** Throws `model_not_available` if the runtime cannot use the model or, for null, has no default. */
  async check(model: string | null, runtime: string): Promise<void> {
    await this.modelOf({ model, runtime });
  }

  /** The model for an agent's turn; null leaves it to the runtime. Throws `model_not_available`. */
  async modelOf({ model, runtime: name }: { model: string | null; runtime: string }): Promise<string | null> {
    const runtime = this.#runtimes.find((each) => each.name === name);
    if (!runtime) throw new BerthError("runtime_not_available", `There is no runtime ${name} any more.`);
    const reachable = await this.#reachable();
    if (model === null) return defaultModel(runtime, reachable);
    requireModel(model, runtime, reachable);
    return model;
  }

  async models(): Promise<Model[]> {
    const { models } = await this.#reachable();
    return models.map(({ id, provider, inputPrice, outputPrice }) => ({
      id,
      provider,
      runtimes: this.#runtimes.filter((runtime) => fits(runtime, provider)).map(({ name }) => name),
      inputPrice: inputPrice === null ? null : toCredits(inputPrice),
      outputPrice: outputPrice === null ? null : toCredits(outputPrice),
    }));
  }

  async runtimeRecords(): Promise<RuntimeRecord[]> {
    const reachable = await this.#reachable();
    const records = this.#runtimes.map(
      async (runtime): Promise<RuntimeRecord> => ({
        name: runtime.name,
        package: runtime.package,
        version: await this.#version(runtime.package),
        providers: [...runtime.providers, "demo"],
        defaultModel: defaultOrNull(runtime, reachable),
        abilities: abilitiesOf(runtime),
      }),
    );
    return Promise.all(records);
  }
}

function defaultOrNull(runtime: RuntimeFacts, reachable: ReachableModels): string | null {
  try {
    return defaultModel(runtime, reachable);
  } catch {
    return null;
  }
}

function abilitiesOf({ abilities }: RuntimeFacts): RuntimeRecord["abilities"] {
  const entries = abilityNames.map((name) => {
    const ability = abilities[name];
    return [name, ability === true ? { supported: true, reason: null } : ability];
  });
  return Object.fromEntries(entries) as RuntimeRecord["abilities"];
}
