import { BerthError } from "../contract/errors.ts";
import type { Model, ModelProvider } from "../contract/models.ts";
import { type AbilityName, abilityNames, type RuntimeRecord } from "../contract/runtimes.ts";
import { toCredits } from "./credits.ts";

/** A runtime, as far as its users choose it and its models. */
export interface RuntimeFacts {
  name: string;
  /** Its npm package. */
  package: string;
  abilities: Record<AbilityName, true | { supported: boolean; reason: string }>;
  /** The providers whose models it can use, besides the demonstration's. */
  providers: readonly Exclude<ModelProvider, "demo">[];
  /** What it takes where none was chosen, best first, as beginnings of ids; null: it knows by itself. */
  defaultModels: readonly string[] | null;
}

/** What this installation can reach. */
export interface ReachableModels {
  /** Whether models without a price answer. */
  allowUnpriced: boolean;
  /** The providers that it has keys of. */
  configured: readonly Exclude<ModelProvider, "demo">[];
  /** Of those, the ones that have not told their models: any name of theirs may be good. */
  untold: readonly ModelProvider[];
  /** All that are known, by id; the demonstration's is always among them. */
  models: readonly ReachableModel[];
}

interface ReachableModel {
  id: string;
  provider: ModelProvider;
  /** In whole micro-credits for a million tokens; null where it is not known. */
  inputPrice: number | null;
  outputPrice: number | null;
}

/** In an error's text; its details have them all. */
const namedInText = 10;

const demoModel = "demo/demo";

/** True when the runtime can use models of that provider. */
function fits(runtime: RuntimeFacts, provider: ModelProvider): boolean {
  return provider === "demo" || runtime.providers.includes(provider);
}

/** What the runtime can use here and that has a price, where it needs one. */
function usable(runtime: RuntimeFacts, { models, allowUnpriced }: ReachableModels): ReachableModel[] {
  const fitting = models.filter(({ provider }) => fits(runtime, provider));
  return fitting.filter(
    ({ inputPrice, outputPrice }) => allowUnpriced || (inputPrice !== null && outputPrice !== null),
  );
}

/** Throws `model_not_available`, with what is allowed, when the runtime cannot use that model here. */
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
 * The model of an agent for which none was chosen. Null leaves it to the runtime, which then asks its first
 * provider. Without any provider it is the demonstration. Throws `model_not_available` when the runtime can use none
 * of the providers that there are.
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
    // The last by name is the latest of its kind.
    const found = known.findLast(({ id }) => id.startsWith(beginning));
    if (found) return found.id;
    if (reachable.untold.some((provider) => beginning.startsWith(`${provider}/`))) return beginning;
  }
  return known[0]?.id ?? demoModel;
}

/** Which models there are, which runtime can use which, and which an agent gets. */
export class ModelChoice {
  readonly #runtimes: readonly RuntimeFacts[];
  readonly #reachable: () => Promise<ReachableModels>;
  readonly #version: (npmPackage: string) => string | null;

  /** `reachable` is cheap to call; `version` tells a package's version in the guest image. */
  constructor(
    runtimes: readonly RuntimeFacts[],
    reachable: () => Promise<ReachableModels>,
    version: (npmPackage: string) => string | null,
  ) {
    this.#runtimes = runtimes;
    this.#reachable = reachable;
    this.#version = version;
  }

  /** Throws `model_not_available` when the runtime cannot use the model, or for null, when it has none by default. */
  async check(model: string | null, runtime: string): Promise<void> {
    await this.modelOf({ model, runtime });
  }

  /** The model that an agent's turn asks; null leaves it to the runtime. Throws `model_not_available`. */
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
    return this.#runtimes.map((runtime) => ({
      name: runtime.name,
      package: runtime.package,
      version: this.#version(runtime.package),
      providers: [...runtime.providers, "demo"],
      defaultModel: defaultOrNull(runtime, reachable),
      abilities: abilitiesOf(runtime),
    }));
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
