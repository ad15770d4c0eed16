import { readFile } from "node:fs/promises";
import { toCredits } from "../billing/credits.ts";
import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";
import type { Model } from "../contract/models.ts";
import { kindFacts, type WireName } from "../contract/providers.ts";
import { type AbilityName, abilityNames, type RuntimeRecord } from "../contract/runtimes.ts";
import { type ReachableProvider, speaks, usualProvider } from "../providers/directory.ts";
import type { ProviderViewer } from "../providers/provider.ts";
import { type Catalog, type CatalogModel, Catalogs } from "./catalog.ts";

/** A user's information for choosing a runtime and its models. */
export interface RuntimeFacts {
  name: string;
  description: string;
  /** The runtime's npm package; null: it starts each agent's own program. */
  package: string | null;
  needsProgram?: boolean;
  abilities: Record<AbilityName, true | { supported: boolean; reason: string }>;
  /** The APIs of models that it can use. */
  wires: readonly WireName[];
  /** Its default models as id prefixes, best first; null: the runtime chooses. */
  defaultModels: readonly string[] | null;
}

/** The models and providers of an account. */
interface Reachable extends Catalog {
  /** Whether models without a price may be used. */
  allowUnpriced: boolean;
  providers: readonly ReachableProvider[];
}

/** The agent, or what is to become one. */
interface Chooser extends ProviderViewer {
  model: string | null;
  runtime: string;
  private: boolean;
}

/** The versions of the runtimes in the guest image. */
const runtimesLock = new URL("../../image/runtimes/package-lock.json", import.meta.url);

/** How many models an error's text names; its details contain all. */
const namedInText = 10;

const demoModel = "demo/demo";

/** A person's own providers are for agents that no one else may use. */
export function viewerOf({
  accountId,
  personId,
  private: isPrivate,
}: Omit<Chooser, "model" | "runtime">): ProviderViewer {
  return { accountId, personId: isPrivate ? personId : null };
}

/** Whether the runtime can use the provider's model of this id; null: any of its models. */
function fits(
  { name, wires }: Pick<RuntimeFacts, "name" | "wires">,
  provider: ReachableProvider | "demo",
  model: string | null,
): boolean {
  if (provider === "demo") return true;
  const { kind } = provider.state;
  const ofProvider = model === null ? null : model.slice(model.indexOf("/") + 1);
  return wires.some((wire) => speaks(kind, wire, ofProvider)) && [undefined, name].includes(kindFacts[kind].runtime);
}

/** A workspace's own provider needs no price: its calls cost no credits. */
function isAffordable({ provider, inputPrice, outputPrice }: CatalogModel, allowUnpriced: boolean): boolean {
  const isOwn = provider !== "demo" && provider.state.accountId !== null;
  return allowUnpriced || isOwn || (inputPrice !== null && outputPrice !== null);
}

/** The models that the runtime can use here, with a price if one is required. */
function usable(runtime: RuntimeFacts, { models, allowUnpriced }: Reachable): CatalogModel[] {
  return models.filter((model) => fits(runtime, model.provider, model.id) && isAffordable(model, allowUnpriced));
}

/** Throws `model_not_available`, with the allowed models, if the runtime cannot use the model here. */
function requireModel(model: string, runtime: RuntimeFacts, reachable: Reachable): void {
  const fitting = usable(runtime, reachable);
  if (fitting.some(({ id }) => id === model)) return;
  const unlisted = reachable.unlisted
    .filter((provider) => fits(runtime, provider, null))
    .map(({ state }) => state.name);
  const isNamed = ({ state: { name } }: ReachableProvider) =>
    model.startsWith(`${name}/`) && model.length > name.length + 1;
  if (reachable.unlisted.some((provider) => isNamed(provider) && fits(runtime, provider, model))) return;
  const available = [...fitting.map(({ id }) => id), ...unlisted.map((name) => `${name}/…`)];
  const more = available.length > namedInText ? ", … (GET /models lists them all)" : "";
  throw new BerthError(
    "model_not_available",
    `The model ${model} ${problemOf(model, runtime, reachable)}. Available: ${available.slice(0, namedInText).join(", ")}${more}.`,
    { details: { available } },
  );
}

/** Why the runtime cannot use the model here. */
function problemOf(model: string, runtime: RuntimeFacts, { models, providers }: Reachable): string {
  const listed = models.find(({ id }) => id === model);
  if (listed && fits(runtime, listed.provider, model)) return "has no price here";
  const name = model.slice(0, model.indexOf("/"));
  const provider = providers.find(({ state }) => state.name === name);
  if (!provider || fits(runtime, provider, model)) return `is not available to ${runtime.name} here`;
  const { kind } = provider.state;
  const { runtime: only } = kindFacts[kind];
  if (only !== undefined) return `is of a subscription that only ${only} may use, not ${runtime.name}`;
  const wires = kindFacts[kind].wires.filter((wire) => speaks(kind, wire, model.slice(name.length + 1))).join(", ");
  return `cannot be used by ${runtime.name}, which speaks ${runtime.wires.join(", ")}: the provider ${name} speaks ${wires}`;
}

/**
 * The default model. Null leaves the choice to the runtime, which then calls the usual provider of its first wire. Without
 * any provider it is the demo model. Throws `model_not_available` if the runtime can use none of the providers.
 */
function defaultModel(runtime: RuntimeFacts, reachable: Reachable): string | null {
  const { providers, unlisted } = reachable;
  if (providers.length === 0) return demoModel;
  // Which models an agent's own program knows is its own affair.
  if (runtime.needsProgram) return null;
  if (!providers.some((provider) => fits(runtime, provider, null))) {
    throw new BerthError(
      "model_not_available",
      `${runtime.name} has no model here: it needs a provider that speaks ${runtime.wires.join(" or ")} (POST /providers). Choose another runtime, or the model ${demoModel}.`,
      { details: { available: [demoModel] } },
    );
  }
  const known = usable(runtime, reachable).filter(({ provider }) => provider !== "demo");
  const usual = usualProvider(runtime.wires[0]!);
  if (runtime.defaultModels === null && providers.some(({ state }) => state.name === usual)) return null;
  for (const beginning of runtime.defaultModels ?? []) {
    // The last by name is the latest version.
    const found = known.findLast(({ id }) => id.startsWith(beginning));
    if (found) return found.id;
    if (unlisted.some(({ state }) => beginning.startsWith(`${state.name}/`))) return beginning;
  }
  if (known.length > 0) return known[0]!.id;
  const open = unlisted.find((provider) => fits(runtime, provider, null));
  if (!open) return demoModel;
  throw new BerthError(
    "model_not_available",
    `${runtime.name} has no default model here: the provider ${open.state.name} lists none. Set one, such as ${open.state.name}/MODEL.`,
    { details: { available: [`${open.state.name}/…`, demoModel] } },
  );
}

/** Which models exist, which runtime can use which, and which one an agent gets. */
export class ModelChoice {
  readonly #context: AppContext;
  readonly #catalogs: Catalogs;
  #packages: Promise<Record<string, { version?: string }>> | null = null;

  constructor(context: AppContext) {
    this.#context = context;
    this.#catalogs = new Catalogs(context.prices, context.log);
  }

  async #reachable(viewer: ProviderViewer): Promise<Reachable> {
    const providers = await this.#context.providers.reachable(viewer);
    const catalog = await this.#catalogs.of(providers);
    return { ...catalog, providers, allowUnpriced: this.#context.config.allowUnpriced };
  }

  /** The version of a runtime in the guest image; null if it is not in it. */
  async versionOf(runtime: string): Promise<string | null> {
    const npmPackage = this.#runtimeOf(runtime)?.package;
    if (npmPackage === undefined || npmPackage === null) return null;
    this.#packages ??= readFile(runtimesLock, "utf8").then((lock) => JSON.parse(lock).packages);
    const { version } = (await this.#packages)[`node_modules/${npmPackage}`] ?? {};
    // Codex's versions end in the processor's kind.
    return version?.replace(/-linux-\w+$/, "") ?? null;
  }

  /** The model for an agent's turn; null leaves it to the runtime. Throws `model_not_available`. */
  async modelOf({ model, runtime: name, ...chooser }: Chooser): Promise<string | null> {
    const runtime = this.#runtimeOf(name);
    if (!runtime) throw new BerthError("runtime_not_available", `There is no runtime ${name} any more.`);
    const reachable = await this.#reachable(viewerOf(chooser));
    if (model !== null && !chooser.private) await this.#requireShared(model, chooser, reachable);
    if (model === null) return defaultModel(runtime, reachable);
    requireModel(model, runtime, reachable);
    return model;
  }

  /** Throws `model_not_available` for a model of a subscription that is the person's alone, if the agent is not. */
  async #requireShared(
    model: string,
    { accountId, personId }: ProviderViewer,
    { providers }: Reachable,
  ): Promise<void> {
    const name = model.slice(0, model.indexOf("/"));
    if (personId === null || name === "demo" || providers.some(({ state }) => state.name === name)) return;
    if (!(await this.#context.providers.find({ accountId, personId }, name))) return;
    throw new BerthError(
      "model_not_available",
      `The model ${model} is of a subscription for you alone, which only your private agents may use: set \`private: true\`, or choose another model.`,
      { details: { available: [demoModel] } },
    );
  }

  /**
   * The model as the runtime names it: by the API that it uses, `anthropic/NAME`, `openai/NAME` or `google/NAME`. The gateway passes its
   * calls to the provider.
   */
  async forRuntime(model: string | null, agentId: string): Promise<string | null> {
    if (model === null || /^(anthropic|openai|demo)\//.test(model)) return model;
    const agent = await this.#context.stores.agents.byId(agentId);
    const slash = model.indexOf("/");
    const found = agent && (await this.#context.providers.find(viewerOf(agent), model.slice(0, slash)));
    const wire =
      found &&
      this.#runtimeOf(agent.runtime)?.wires.find((each) => speaks(found.state.kind, each, model.slice(slash + 1)));
    return wire ? `${usualProvider(wire)}${model.slice(slash)}` : model;
  }

  async models(viewer: ProviderViewer): Promise<Model[]> {
    const { models } = await this.#reachable(viewer);
    return models.map(({ id, provider, inputPrice, outputPrice }) => ({
      id,
      provider: provider === "demo" ? "demo" : provider.state.name,
      runtimes: this.runtimesFor(provider, id),
      inputPrice: inputPrice === null ? null : toCredits(inputPrice),
      outputPrice: outputPrice === null ? null : toCredits(outputPrice),
    }));
  }

  /** The runtimes that new agents may have, as far as the guest image was built with them. */
  get offered(): readonly RuntimeFacts[] {
    const { offeredRuntimes, machines } = this.#context;
    return offeredRuntimes.filter(({ name }) => machines.runtimes?.includes(name) ?? true);
  }

  /** The names of the runtimes that can use the provider's model of this id; null: any of its models. */
  runtimesFor(provider: ReachableProvider | "demo", model: string | null = null): string[] {
    return this.offered.filter((runtime) => fits(runtime, provider, model)).map(({ name }) => name);
  }

  async runtimeRecords(viewer: ProviderViewer): Promise<RuntimeRecord[]> {
    const reachable = await this.#reachable(viewer);
    const records = this.offered.map(
      async (runtime): Promise<RuntimeRecord> => ({
        name: runtime.name,
        description: runtime.description,
        package: runtime.package ?? "",
        needsProgram: runtime.needsProgram ?? false,
        version: await this.versionOf(runtime.name),
        wires: [...runtime.wires],
        providers: providersOf(runtime, reachable),
        defaultModel: defaultOrNull(runtime, reachable),
        abilities: abilitiesOf(runtime),
      }),
    );
    return Promise.all(records);
  }

  #runtimeOf(name: string): RuntimeFacts | undefined {
    return this.#context.runtimes.find((each) => each.name === name);
  }
}

/** The usual providers, which there may be none of yet, and the account's others. */
function providersOf(runtime: RuntimeFacts, { providers }: Reachable): string[] {
  const usual = runtime.wires.map(usualProvider);
  const others = providers.filter((provider) => fits(runtime, provider, null)).map(({ state }) => state.name);
  return [...new Set([...usual, ...others, "demo"])];
}

function defaultOrNull(runtime: RuntimeFacts, reachable: Reachable): string | null {
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
