import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";
import type { Ledger, Spender } from "../billing/ledger.ts";
import type { Config } from "../config/config.ts";
import { BerthError } from "../contract/errors.ts";
import type { OpenDownload } from "../egress/downstream.ts";
import type { Egress } from "../egress/egress.ts";
import type { Runtime } from "../runtimes/runtime.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { RunningTurns } from "../turns/running-turns.ts";
import type { TurnState } from "../turns/turn.ts";
import type { Stores } from "../wiring/stores.ts";
import { Models } from "./catalog.ts";
import { nobody, type Payer } from "./charge.ts";
import { ModelChoice } from "./choice.ts";
import { Gateway, type Caller as GuestCaller } from "./gateway.ts";
import { Prices } from "./prices.ts";
import { Upstream } from "./upstream.ts";

/** An account is assumed to have enough credits if it recently had this many times what a call needs, */
const plentyTimes = 20;
/** within this time. The credits are still held before any part of the answer is passed on. */
const seenMs = 60_000;

interface ModelAccessOptions {
  config: Config;
  runtimes: readonly Runtime[];
  stores: Stores;
  ledger: Ledger;
  running: RunningTurns;
  /** Serves an agent's connections to other hosts, which use the same uplink as its model calls. */
  egress: Egress;
  metrics: Metrics;
  log: (message: string, fields: Record<string, unknown>) => void;
}

type AgentAccount = Pick<Spender, "accountId" | "agentName">;

type Providers = Record<"anthropic" | "openai", Upstream | null>;

/** How agents ask other agents, over the same uplink. */
interface AgentsAccess {
  serve: (agentId: string, ...request: Parameters<NonNullable<GuestCaller["otherAgents"]>>) => Promise<void>;
  /** Throws `insufficient_credits` where a turn that another agent asked for may make no further model call. */
  requireCredits: (turn: TurnState) => Promise<void>;
}

/** Agents' access to models: the catalog, and calls to providers, paid by the agents' accounts. */
export class ModelAccess {
  readonly choice: ModelChoice;
  readonly #options: ModelAccessOptions;
  readonly #providers: Providers;
  readonly #gateway: Gateway;
  readonly #templateGateway: Gateway;
  #agents: AgentsAccess | null = null;

  private constructor(options: ModelAccessOptions, providers: Providers, prices: Prices, choice: ModelChoice) {
    this.choice = choice;
    this.#options = options;
    this.#providers = providers;
    const { modelSilenceMs: silenceMs, modelRetryMs: retryMs, allowUnpriced } = options.config;
    const warn = (message: string, error: unknown) => options.log(message, { error });
    const { hostedTools } = options.config;
    const common = { prices, allowUnpriced, hostedTools, silenceMs, retryMs, warn };
    const asking = { anthropic: providers.anthropic?.ask ?? null, openai: providers.openai?.ask ?? null };
    this.#gateway = new Gateway({
      ...common,
      providers: asking,
      measured: {
        answered: (provider, seconds) => options.metrics.modelAnswered(provider, seconds),
        used: (provider, tokens, microCredits) => options.metrics.modelUsed(provider, tokens, microCredits),
        ended: (provider, outcome) => options.metrics.modelEnded(provider, outcome),
      },
    });
    // A template's throwaway turns are free, whatever providers are configured.
    const demoOnly = { anthropic: null, openai: null };
    this.#templateGateway = new Gateway({ ...common, providers: demoOnly, measured: null });
  }

  static async open(options: ModelAccessOptions): Promise<ModelAccess> {
    const { anthropic, openai, prices: ownPrices } = options.config;
    const providers = {
      anthropic: anthropic ? new Upstream("anthropic", anthropic) : null,
      openai: openai ? new Upstream("openai", openai) : null,
    };
    const prices = new Prices(ownPrices);
    return new ModelAccess(options, providers, prices, await openChoice(options, providers, prices));
  }

  /** Lets agents ask each other. To be called before the first machine is served. */
  connectAgents(access: AgentsAccess): void {
    this.#agents = access;
  }

  /** Serves an agent's machine until the connection ends. */
  serveUplink(agentId: string, socket: Socket, openDownload: OpenDownload): void {
    const { stores, running, egress } = this.#options;
    const account = this.#accountOf(agentId);
    this.#gateway.serve(socket, {
      id: agentId,
      account: async () => (await account()).accountId,
      settings: async () => (await stores.agents.byId(agentId)) ?? { model: null, instructions: null },
      turn: () => running.ofAgent(agentId),
      payer: this.#payerOf(agentId, account),
      mayReachAll: () => egress.mayReachAll(agentId),
      tunnel: (stream, authority, name) => void egress.serve({ agentId, stream, authority, name, openDownload }),
      otherAgents: (...request) => this.#agents!.serve(agentId, ...request),
    });
  }

  /** Serves the model calls of a template that is being warmed. */
  serveTemplateUplink(socket: Socket): void {
    const settings = async () => ({ model: null, instructions: null });
    this.#templateGateway.serve(socket, {
      id: "template",
      account: async () => "template",
      settings,
      turn: () => null,
      payer: () => nobody,
      mayReachAll: async () => false,
    });
  }

  /** Resolves when the usage of all calls is recorded. Call it after the connections have ended. */
  async close(): Promise<void> {
    await Promise.all([this.#gateway.close(), this.#templateGateway.close()]);
    await Promise.all(Object.values(this.#providers).map((provider) => provider?.close()));
  }

  /** Reads once whom the agent belongs to, which does not change while it exists. Throws `agent_deleted`. */
  #accountOf(agentId: string): () => Promise<AgentAccount> {
    let account: AgentAccount | null = null;
    return async () => {
      if (account) return account;
      const agent = await this.#options.stores.agents.byId(agentId);
      if (!agent) throw new BerthError("agent_deleted", "The agent was deleted.");
      account = { accountId: agent.accountId, agentName: agent.name };
      return account;
    };
  }

  #payerOf(agentId: string, account: () => Promise<AgentAccount>): () => Payer {
    const { ledger, running, stores } = this.#options;
    /** What was left after the last hold, minus what has been requested since. */
    let seen = { keyId: null as string | null, left: 0, at: 0 };
    return () => {
      const turn = running.ofAgent(agentId)?.turn ?? null;
      const turnId = turn?.id ?? null;
      // Programs that a turn has left running count for its key.
      const known = turn ? turn.keyId : running.lastKeyOf(agentId);
      return {
        hasPlenty: (micro) => {
          const plenty =
            seen.keyId === known && performance.now() - seen.at < seenMs && seen.left >= micro * plentyTimes;
          seen.left -= micro;
          return plenty;
        },
        hold: async (model, micro) => {
          if (turn) await this.#agents?.requireCredits(turn);
          const keyId = known === undefined ? await stores.turns.lastKeyOf(agentId) : known;
          const hold = await ledger.hold({ ...(await account()), agentId, turnId, keyId }, model, micro);
          seen = { keyId, left: hold.left, at: performance.now() };
          return {
            extend: (more) => ledger.extend(hold, more),
            settle: (used, tokens) => ledger.settle(hold, used, tokens),
          };
        },
      };
    };
  }
}

async function openChoice(
  { config: { allowUnpriced }, runtimes, log }: ModelAccessOptions,
  providers: Providers,
  prices: Prices,
): Promise<ModelChoice> {
  const models = new Models(providers, prices, (message, error) => log(message, { error }));
  const configured = (["anthropic", "openai"] as const).filter((name) => providers[name] !== null);
  const lock = await readFile(new URL("../../image/runtimes/package-lock.json", import.meta.url), "utf8");
  const { packages } = JSON.parse(lock) as { packages: Record<string, { version?: string }> };
  return new ModelChoice(
    runtimes,
    async () => ({ configured, allowUnpriced, ...(await models.catalog()) }),
    (npmPackage) => packages[`node_modules/${npmPackage}`]?.version ?? null,
  );
}
