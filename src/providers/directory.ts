import type { AppContext } from "../context.ts";
import { kindFacts, type ProviderKind, type WireName } from "../contract/providers.ts";
import { setRecent } from "../core/recent.ts";
import type { Wire } from "../models/wires/wire.ts";
import { BedrockEndpoint } from "./endpoints/bedrock.ts";
import { ChatGptEndpoint } from "./endpoints/chatgpt.ts";
import { ClaudeEndpoint } from "./endpoints/claude.ts";
import type { Endpoint } from "./endpoints/endpoint.ts";
import { KeyEndpoint } from "./endpoints/key.ts";
import { VertexEndpoint } from "./endpoints/vertex.ts";
import type { ProviderOwner, ProviderState, ProviderViewer } from "./provider.ts";
import { Upstream } from "./upstream.ts";

/** How long what was read of an account's providers is used. Another server may have changed them. */
const freshMs = 2_000;
/** How many accounts' providers are remembered, for when the database does not answer, and providers' connections. */
const maximumAccounts = 10_000;
const maximumUpstreams = 1_000;

/** A provider with its connections. */
export interface ReachableProvider {
  state: ProviderState;
  /** Null: its credentials cannot be decrypted. */
  upstream: Upstream | null;
}

interface Read {
  at: number;
  providers: ReachableProvider[];
}

/**
 * The providers that each account can use: its own, the installation's, and those of the environment, and a person's. One of
 * the person hides the others of its name, and one of the account those of the installation.
 */
export class ProviderDirectory {
  readonly #context: AppContext;
  readonly #ofEnvironment: ReachableProvider[];
  readonly #reads = new Map<string, Read>();
  readonly #reading = new Map<string, Promise<ReachableProvider[]>>();
  /** By id and time of the last change. */
  readonly #upstreams = new Map<string, { version: string; upstream: Upstream }>();
  /** Increases with each change, so that what was read before it is not kept. */
  #changes = 0;

  constructor(context: AppContext) {
    this.#context = context;
    const { anthropic, openai, google } = context.config;
    this.#ofEnvironment = Object.entries({ anthropic, openai, google }).flatMap(([name, account]) => {
      if (!account) return [];
      const kind = name as Wire["provider"];
      const state = ofEnvironment(kind, account.baseUrl);
      const endpoint = new KeyEndpoint(kind, account.baseUrl, account.apiKey);
      return [{ state, upstream: new Upstream(endpoint) }];
    });
  }

  /** By name. While the database does not answer: those that were read last. */
  async reachable(viewer: ProviderViewer): Promise<ReachableProvider[]> {
    const key = keyOf(viewer);
    const read = this.#reads.get(key);
    if (read && performance.now() - read.at < freshMs) return read.providers;
    const reading = this.#reading.get(key) ?? this.#read(viewer);
    this.#reading.set(key, reading);
    try {
      return await reading;
    } catch (error) {
      if (read) return read.providers;
      throw error;
    } finally {
      if (this.#reading.get(key) === reading) this.#reading.delete(key);
    }
  }

  /** Null: there is none of this name. */
  async find(viewer: ProviderViewer, name: string): Promise<ReachableProvider | null> {
    return (await this.reachable(viewer)).find(({ state }) => state.name === name) ?? null;
  }

  /** Also one that another of its name hides. Null: there is none. */
  async ofOwner(owner: ProviderOwner, name: string): Promise<ReachableProvider | null> {
    const state = await this.#context.stores.providers.find(owner, name);
    if (state) return { state, upstream: this.#upstreamOf(state) };
    return (owner.accountId === null && this.#ofEnvironment.find(({ state }) => state.name === name)) || null;
  }

  /** A provider was changed: the next look reads it. */
  forget(): void {
    this.#changes++;
    this.#reading.clear();
    this.#reads.clear();
  }

  async close(): Promise<void> {
    const upstreams = [...this.#upstreams.values(), ...this.#ofEnvironment].map(({ upstream }) => upstream);
    await Promise.all(upstreams.map((upstream) => upstream?.close()));
  }

  async #read(viewer: ProviderViewer): Promise<ReachableProvider[]> {
    const changes = this.#changes;
    const stored = await this.#context.stores.providers.reachable(viewer);
    const byName = new Map(this.#ofEnvironment.map((provider) => [provider.state.name, provider]));
    // The last of a name counts: the person's own, then the workspace's.
    const ordered = stored.toSorted((a, b) => rankOf(a) - rankOf(b));
    for (const state of ordered) byName.set(state.name, { state, upstream: this.#upstreamOf(state) });
    const providers = [...byName.values()].sort((a, b) => (a.state.name < b.state.name ? -1 : 1));
    if (changes !== this.#changes) return providers;
    setRecent(this.#reads, keyOf(viewer), { at: performance.now(), providers }, maximumAccounts);
    return providers;
  }

  /** Calls that run end at the old connections when a provider changes. */
  #upstreamOf(state: ProviderState): Upstream | null {
    const id = state.id!;
    const { version } = state;
    const endpoint = endpointOf(state, this.#context);
    if (!endpoint) return null;
    const known = this.#upstreams.get(id);
    if (known?.version === version) return known.upstream;
    // The operator's own may be inside: a model server on this host, for example. A subscription's address is the operator's.
    const isOperators = state.accountId === null || kindFacts[state.kind].runtime !== undefined;
    const upstream = new Upstream(endpoint, isOperators ? undefined : this.#context.providerOutbound.connect);
    // Connections that are not used any more end soon.
    setRecent(this.#upstreams, id, { version, upstream }, maximumUpstreams);
    return upstream;
  }
}

/** The name of the installation's account for a wire, which agents use without a provider of their own choice. */
export function usualProvider(wire: WireName): Wire["provider"] {
  return wire === "messages" ? "anthropic" : wire === "gemini" ? "google" : "openai";
}

/** Whether a provider of this kind speaks the API for its model of this name; null: for any of its models. */
export function speaks(kind: ProviderKind, wire: WireName, model: string | null): boolean {
  // Vertex has Google's models under Google's API, and Anthropic's under Anthropic's.
  const fits = kind !== "vertex" || model === null || model.startsWith("gemini") === (wire === "gemini");
  return fits && kindFacts[kind].wires.includes(wire);
}

function keyOf({ accountId, personId }: ProviderViewer): string {
  return `${accountId} ${personId}`;
}

function rankOf({ accountId, ownerId }: ProviderOwner): number {
  return Number(accountId !== null) + Number(ownerId !== null);
}

/** Null: its credentials cannot be decrypted. */
function endpointOf(state: ProviderState, { config, providerLogins }: AppContext): Endpoint | null {
  const { kind, baseUrl, region, project, credential } = state;
  if (credential === "unreadable") return null;
  switch (kind) {
    case "bedrock":
      return credential === "none" || "serviceAccount" in credential
        ? null
        : new BedrockEndpoint(region!, baseUrl, credential);
    case "vertex":
      return credential !== "none" && "serviceAccount" in credential
        ? new VertexEndpoint(region!, project!, baseUrl, credential.serviceAccount)
        : null;
    case "claude":
      return credential !== "none" && "apiKey" in credential
        ? new ClaudeEndpoint(state, config.subscriptions.claude, credential.apiKey, providerLogins)
        : null;
    case "chatgpt":
      return new ChatGptEndpoint(state, config.subscriptions.chatGpt, providerLogins);
    default:
      return new KeyEndpoint(kind, baseUrl, credential !== "none" && "apiKey" in credential ? credential.apiKey : null);
  }
}

function ofEnvironment(kind: Wire["provider"], baseUrl: string): ProviderState {
  return {
    ...{
      id: null,
      accountId: null,
      ownerId: null,
      name: kind,
      kind,
      baseUrl,
      region: null,
      project: null,
      models: null,
      secret: null,
    },
    ...{ version: "", problem: null },
    ...{ credential: "none", hint: null, login: null, createdBy: null, createdAt: null, updatedAt: null },
  };
}
