import type { Socket } from "node:net";
import type { AgentState } from "../agents/agent.ts";
import { type Spender, unlimited, warningOf } from "../billing/ledger.ts";
import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";
import { kindFacts } from "../contract/providers.ts";
import type { OpenDownload } from "../machines/connections.ts";
import { speaks } from "../providers/directory.ts";
import type { ProviderViewer } from "../providers/provider.ts";
import { nobody, type Payer } from "./charge.ts";
import { viewerOf } from "./choice.ts";
import { demoProvider } from "./demo/demo.ts";
import { type ChosenProvider, Gateway } from "./gateway.ts";
import { notForRuntime, type Refusal, unconfigured, unreadable } from "./refusal.ts";
import type { Wire } from "./wires/wire.ts";

/** An account is assumed to have enough credits if it recently had this many times what a call needs, */
const plentyTimes = 20;
/** within this time. The credits are still held before any part of the answer is forwarded. */
const seenMs = 60_000;

type AgentAccount = Pick<Spender, "accountId" | "agentName">;

/** How long what was read of an agent decides about its providers. */
const freshMs = 2_000;

const noSettings = { model: null, fallbackModels: [], instructions: null };

/** Agents' calls of models, paid by the agents' accounts. */
export class ModelAccess {
  readonly #context: AppContext;
  readonly #gateway: Gateway;
  readonly #templateGateway: Gateway;

  constructor(context: AppContext) {
    this.#context = context;
    const { config, prices, metrics } = context;
    const { modelSilenceMs: silenceMs, modelRetryMs: retryMs, hostedTools } = config;
    const warn = (message: string, error: unknown) => context.log(message, { error });
    const common = { prices, hostedTools, silenceMs, retryMs, warn };
    this.#gateway = new Gateway({ ...common, metrics });
    this.#templateGateway = new Gateway({ ...common, metrics: null });
  }

  /** Serves an agent's machine until the connection ends. */
  serveUplink(agentId: string, socket: Socket, openDownload: OpenDownload): void {
    const { stores, running, egress, otherAgents, skills } = this.#context;
    const account = this.#accountOf(agentId);
    const agentNow = this.#agentOf(agentId);
    this.#gateway.serve(socket, {
      id: agentId,
      account: async () => (await account()).accountId,
      settings: async () => (await stores.agents.byId(agentId)) ?? noSettings,
      turn: () => running.ofAgent(agentId),
      provider: async (wire, model) => {
        const agent = await agentNow();
        if (!agent) return unconfigured(wire.provider);
        const chosen = await this.#chosen(viewerOf(agent), wire, model);
        const only = "name" in chosen && chosen.kind !== "demo" && kindFacts[chosen.kind].runtime;
        return only && agent.runtime !== only ? notForRuntime(chosen.name, only) : chosen;
      },
      payer: this.#payerOf(agentId, account),
      mayReachAll: () => egress.mayReachAll(agentId),
      tunnel: (stream, authority, name) => void egress.serve({ agentId, stream, authority, name, openDownload }),
      otherAgents: (...request) => otherAgents.serve(agentId, ...request),
      skill: (stream, path) => skills.serve(agentId, stream, path),
    });
  }

  /** Serves the model calls of a template that is being warmed. */
  serveTemplateUplink(socket: Socket): void {
    this.#templateGateway.serve(socket, {
      id: "template",
      account: async () => "template",
      settings: async () => noSettings,
      turn: () => null,
      // A template's throwaway turns are free, whatever providers there are.
      provider: async () => demoProvider,
      payer: () => nobody,
      mayReachAll: async () => false,
    });
  }

  /** Resolves when the usage of all calls is recorded. Call it after the connections have ended. */
  async close(): Promise<void> {
    await Promise.all([this.#gateway.close(), this.#templateGateway.close()]);
    await this.#context.providers.close();
    await this.#context.providerLogins.close();
  }

  /**
   * The provider of a call: that of the agent's model if it speaks the wire, otherwise the wire's usual one. Without any
   * provider the demonstration model answers.
   */
  async #chosen(viewer: ProviderViewer, wire: Wire, model: string | null): Promise<ChosenProvider | Refusal> {
    if (model?.startsWith("demo/")) return demoProvider;
    const providers = await this.#context.providers.reachable(viewer);
    const slash = model?.indexOf("/") ?? -1;
    const named = model === null ? null : model.slice(0, slash);
    const ofModel = providers.find(({ state }) => state.name === named);
    if (named !== null && !ofModel && providers.length > 0) return unconfigured(named);
    const found =
      ofModel && speaks(ofModel.state.kind, wire.name, model!.slice(slash + 1))
        ? ofModel
        : providers.find(({ state }) => state.name === wire.provider);
    if (!found) return providers.length === 0 ? demoProvider : unconfigured(wire.provider);
    const { state, upstream } = found;
    const { name, kind, baseUrl, accountId: owner } = state;
    if (!upstream) return unreadable(name, state.problem);
    return { name, kind, baseUrl, framing: upstream.endpoint.framing, isOwn: owner !== null, ask: upstream.ask };
  }

  /**
   * The agent as it was read a short time ago: its runtime and whether it is private decide about subscriptions, and may change.
   * While the database does not answer: as it was read last.
   */
  #agentOf(agentId: string): () => Promise<AgentState | null> {
    let last: { agent: AgentState; at: number } | null = null;
    return async () => {
      if (last && performance.now() - last.at < freshMs) return last.agent;
      try {
        const agent = await this.#context.stores.agents.byId(agentId);
        last = agent && { agent, at: performance.now() };
        return agent;
      } catch (error) {
        if (!last) throw error;
        return last.agent;
      }
    };
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
        hold: async (model, micro, isOwn) => {
          const keyId = known === undefined ? await stores.turns.lastKeyOf(agentId) : known;
          const limits = current ? asking.spendingOf(current) : unlimited;
          const spender = { ...(await account()), agentId, turnId, keyId, limits };
          const hold = await ledger.hold(spender, model, micro, isOwn);
          for (const near of hold.near) current?.limits.warn(warningOf(near));
          if (!isOwn) seen = { keyId, left: hold.left, at: performance.now() };
          return {
            extend: (more) => ledger.extend(hold, more),
            settle: (used, tokens) => ledger.settle(hold, used, tokens),
          };
        },
      };
    };
  }
}
