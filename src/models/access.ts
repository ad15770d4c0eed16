import type { Socket } from "node:net";
import { type Spender, unlimited, warningOf } from "../billing/ledger.ts";
import type { Config } from "../config/config.ts";
import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";
import type { OpenDownload } from "../machines/connections.ts";
import { nobody, type Payer } from "./charge.ts";
import { Gateway } from "./gateway.ts";
import { Upstream } from "./upstream.ts";

/** An account is assumed to have enough credits if it recently had this many times what a call needs, */
const plentyTimes = 20;
/** within this time. The credits are still held before any part of the answer is forwarded. */
const seenMs = 60_000;

type AgentAccount = Pick<Spender, "accountId" | "agentName">;

/** The configured providers; null for one without a key. */
export type Providers = Record<"anthropic" | "openai", Upstream | null>;

export function openProviders({ anthropic, openai }: Config): Providers {
  return {
    anthropic: anthropic && new Upstream("anthropic", anthropic),
    openai: openai && new Upstream("openai", openai),
  };
}

/** Agents' calls of models, paid by the agents' accounts. */
export class ModelAccess {
  readonly #context: AppContext;
  readonly #gateway: Gateway;
  readonly #templateGateway: Gateway;

  constructor(context: AppContext) {
    this.#context = context;
    const { config, providers, prices, metrics } = context;
    const { modelSilenceMs: silenceMs, modelRetryMs: retryMs, hostedTools } = config;
    const warn = (message: string, error: unknown) => context.log(message, { error });
    const common = { prices, hostedTools, silenceMs, retryMs, warn };
    const asking = { anthropic: providers.anthropic?.ask ?? null, openai: providers.openai?.ask ?? null };
    this.#gateway = new Gateway({ ...common, providers: asking, metrics });
    // A template's throwaway turns are free, whatever providers are configured.
    const demoOnly = { anthropic: null, openai: null };
    this.#templateGateway = new Gateway({ ...common, providers: demoOnly, metrics: null });
  }

  /** Serves an agent's machine until the connection ends. */
  serveUplink(agentId: string, socket: Socket, openDownload: OpenDownload): void {
    const { stores, running, egress, otherAgents } = this.#context;
    const account = this.#accountOf(agentId);
    this.#gateway.serve(socket, {
      id: agentId,
      account: async () => (await account()).accountId,
      settings: async () => (await stores.agents.byId(agentId)) ?? { model: null, instructions: null },
      turn: () => running.ofAgent(agentId),
      payer: this.#payerOf(agentId, account),
      mayReachAll: () => egress.mayReachAll(agentId),
      tunnel: (stream, authority, name) => void egress.serve({ agentId, stream, authority, name, openDownload }),
      otherAgents: (...request) => otherAgents.serve(agentId, ...request),
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
    await Promise.all(Object.values(this.#context.providers).map((provider) => provider?.close()));
  }

  /** Loads the agent's account once; it never changes. Throws `agent_deleted`. */
  #accountOf(agentId: string): () => Promise<AgentAccount> {
    let account: AgentAccount | null = null;
    return async () => {
      if (account) return account;
      const agent = await this.#context.stores.agents.byId(agentId);
      if (!agent) throw new BerthError("agent_deleted", "The agent was deleted.");
      account = { accountId: agent.accountId, agentName: agent.name };
      return account;
    };
  }

  #payerOf(agentId: string, account: () => Promise<AgentAccount>): () => Payer {
    const { ledger, running, stores, asking } = this.#context;
    /** The rest after the last hold, minus the requests since. */
    let seen = { keyId: null as string | null, left: 0, at: 0 };
    return () => {
      const current = running.ofAgent(agentId);
      const turn = current?.turn ?? null;
      const turnId = turn?.id ?? null;
      // Programs that a turn has left running are charged to its key.
      const known = turn ? turn.keyId : running.lastKeyOf(agentId);
      return {
        hasPlenty: (micro) => {
          const plenty =
            seen.keyId === known && performance.now() - seen.at < seenMs && seen.left >= micro * plentyTimes;
          seen.left -= micro;
          return plenty;
        },
        hold: async (model, micro) => {
          const keyId = known === undefined ? await stores.turns.lastKeyOf(agentId) : known;
          const limits = current ? asking.spendingOf(current) : unlimited;
          const hold = await ledger.hold({ ...(await account()), agentId, turnId, keyId, limits }, model, micro);
          for (const near of hold.near) current?.limits.warn(warningOf(near));
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
