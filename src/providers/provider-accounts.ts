import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";
import {
  type ChangeProvider,
  type CreateProvider,
  ProviderName,
  type ProviderScope,
  type ProviderTest,
  problemWith,
} from "../contract/providers.ts";
import { allows } from "../contract/workspaces.ts";
import { LoginRefused } from "../core/fresh-tokens.ts";
import type { Attempt } from "../core/http/attempt.ts";
import type { Caller } from "../core/http/caller.ts";
import type { Device } from "./chatgpt.ts";
import type { ReachableProvider } from "./directory.ts";
import { addressOf, type KeyKind } from "./endpoints/key.ts";
import {
  type Credential,
  credentialIn,
  type ProviderOwner,
  type ProviderSettings,
  type ProviderState,
} from "./provider.ts";
import { problemOf } from "./secret-key.ts";
import { testCall } from "./test-call.ts";

type Scoped = Pick<Caller, "accountId" | "operator" | "personId" | "role">;

/** The requests of people about accounts at providers. The directory has those that agents use. */
export class ProviderAccounts {
  readonly #context: AppContext;

  constructor(context: AppContext) {
    this.#context = context;
  }

  /** Throws `request_invalid`, `forbidden`, `provider_exists`, `too_many_providers`. */
  async create(caller: Caller, asked: CreateProvider, { resourceId: id }: Attempt): Promise<ReachableProvider> {
    const { name, kind, scope, baseUrl = null, region = null, project = null, models = null, secret = null } = asked;
    const owner = ownerOf(caller, scope);
    const settings: ProviderSettings = { kind, baseUrl, region, project, models, secret };
    const credential = credentialIn(asked);
    await this.#requireAllowed(owner, settings, credential);
    const known = kind === "chatgpt" ? await this.#context.stores.providers.find(owner, name) : null;
    const device = kind === "chatgpt" && !known ? await this.#device() : null;
    await this.#context.stores.providers.insert({ id, ...owner, name, credential, ...settings }, caller, device);
    this.#context.providers.forget();
    return this.#find(caller, name, scope);
  }

  /** Throws the errors of `create`, and `provider_not_found`. */
  async change(caller: Scoped, name: string, scope: ProviderScope, asked: ChangeProvider): Promise<ReachableProvider> {
    const owner = ownerOf(caller, scope);
    const state = await this.#stored(owner, name, scope);
    const given = Object.entries(asked).filter(([, value]) => value !== undefined);
    const settings: ProviderSettings = { ...settingsOf(state), ...settingsOf(Object.fromEntries(given) as never) };
    const credential = credentialIn(asked);
    if (asked.secret !== undefined && scope !== "workspace") {
      const message = "secret: only a provider of the workspace can use the workspace's secrets.";
      throw new BerthError("request_invalid", message);
    }
    if (credential && asked.secret === undefined) settings.secret = null;
    requireOwnCredential(state, settings, credential);
    const stored = typeof state.credential === "string" || settings.secret !== null ? {} : state.credential;
    const isUnknown = state.credential === "unreadable" && !credential && settings.secret === null;
    const problem = isUnknown ? null : problemWith(state.kind, { ...settings, ...(credential ?? stored) });
    if (problem !== null) throw new BerthError("request_invalid", problem);
    await this.#requireAllowed(owner, settings, credential);
    const isChanged = await this.#context.stores.providers.change(state.id!, settings, credential);
    if (!isChanged) throw noProvider(name, scope);
    this.#context.providerLogins.forget(state.id!);
    this.#context.providers.forget();
    return this.#find(caller, name, scope);
  }

  /** Throws `provider_not_found`, `forbidden`. */
  async remove(caller: Scoped, name: string, scope: ProviderScope): Promise<void> {
    const owner = ownerOf(caller, scope);
    await this.#stored(owner, name, scope);
    await this.#context.stores.providers.remove(owner, name);
    this.#context.providers.forget();
  }

  /**
   * Begins a login that a person is to finish, in place of one that is not finished. Throws `provider_not_found`,
   * `request_invalid` if the provider has no such login, `provider_unreachable`.
   */
  async login(caller: Scoped, name: string, scope: ProviderScope): Promise<ReachableProvider> {
    const owner = ownerOf(caller, scope);
    const { id, kind } = await this.#stored(owner, name, scope);
    if (kind !== "chatgpt") {
      const instead = kind === "claude" ? "set another token (PATCH, `apiKey`)" : "it has credentials of its own";
      throw new BerthError("request_invalid", `A provider of the kind ${kind} has no login to begin: ${instead}.`);
    }
    await this.#context.stores.logins.begin(id!, await this.#device());
    this.#context.providerLogins.forget(id!);
    this.#context.providers.forget();
    return this.#find(caller, name, scope);
  }

  /** Throws `provider_unreachable`. */
  async #device(): Promise<Device> {
    try {
      return await this.#context.providerLogins.device();
    } catch (error) {
      this.#context.log("a login of a subscription could not be begun", { error });
      const message =
        error instanceof LoginRefused ? error.message : "OpenAI's login does not answer; try again later.";
      throw new BerthError("provider_unreachable", message, { cause: error });
    }
  }

  /** Throws `provider_not_found`, `request_invalid` if the provider lists no models and none is given. */
  async test(caller: Scoped, name: string, scope: ProviderScope, model?: string): Promise<ProviderTest> {
    ownerOf(caller, scope);
    const provider = await this.#find(caller, name, scope);
    return testCall(provider, model ?? null);
  }

  /** The provider of this scope, with its connections, although another one of the name may hide it. */
  async #find(caller: Scoped, name: string, scope: ProviderScope): Promise<ReachableProvider> {
    requireName(name);
    const found = await this.#context.providers.ofOwner(ownerOf(caller, scope), name);
    if (found) return found;
    throw noProvider(name, scope);
  }

  /** Throws `provider_not_found`, and `request_invalid` for one of the environment. */
  async #stored(owner: ProviderOwner, name: string, scope: ProviderScope): Promise<ProviderState> {
    requireName(name);
    const found = await this.#context.stores.providers.find(owner, name);
    if (found) return found;
    if (owner.accountId === null && (await this.#context.providers.ofOwner(owner, name))) {
      const setting = `${name.toUpperCase()}_API_KEY`;
      throw new BerthError(
        "request_invalid",
        `${name} is set by the server's environment (${setting}); change it there.`,
      );
    }
    throw noProvider(name, scope);
  }

  /** The operator's own may be inside: a model server on this host, for example. */
  async #requireAllowed({ accountId }: ProviderOwner, settings: ProviderSettings, credential: Credential | null) {
    if (accountId === null) return;
    const { providerOutbound, stores } = this.#context;
    const { kind, baseUrl, secret } = settings;
    if (secret !== null) {
      const known = await stores.vault.keyOf(accountId, secret);
      const problem = problemOf(secret, known, addressOf(kind as KeyKind, baseUrl));
      if (problem !== null) throw new BerthError("request_invalid", `secret: ${problem}`);
    }
    if (baseUrl !== null) await providerOutbound.requireAllowed(baseUrl, "baseUrl");
    if (credential && "serviceAccount" in credential) {
      await providerOutbound.requireAllowed(credential.serviceAccount.token_uri, "serviceAccount.token_uri");
    }
  }
}

/** The owner of a provider of the scope. Throws `forbidden`. */
function ownerOf({ accountId, operator, personId, role }: Scoped, scope: ProviderScope): ProviderOwner {
  if (scope === "person") {
    if (personId !== null) return { accountId, ownerId: personId };
    throw new BerthError("forbidden", "A key without a person has no providers of its own; use `scope: workspace`.");
  }
  if (scope === "workspace") {
    if (allows(role, "manage")) return { accountId, ownerId: null };
    throw new BerthError(
      "forbidden",
      "Only owners and admins can set providers of the workspace. A subscription of your own has `scope: person`.",
    );
  }
  if (operator) return { accountId: null, ownerId: null };
  throw new BerthError("forbidden", "Only the operator can set providers of the installation; use `scope: workspace`.");
}

/** Otherwise whoever may change the address could have the key sent to themselves. Throws `request_invalid`. */
function requireOwnCredential(before: ProviderState, after: ProviderSettings, credential: Credential | null): void {
  // The hosts of a secret decide about addresses.
  if (after.secret !== null || (before.secret === null && before.credential === "none")) return;
  if (credential !== null || before.baseUrl === after.baseUrl) return;
  throw new BerthError("request_invalid", "baseUrl: another address needs the credentials again, in the same request.");
}

function settingsOf({ kind, baseUrl, region, project, models, secret }: ProviderSettings): ProviderSettings {
  const settings = { kind, baseUrl, region, project, models, secret };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as never;
}

function noProvider(name: string, scope: ProviderScope): BerthError {
  const places = { person: "You have", workspace: "The workspace has", installation: "The installation has" };
  return new BerthError("provider_not_found", `${places[scope]} no provider ${name}.`);
}

/** An invalid name is not repeated: it may be a secret. */
function requireName(name: string): void {
  if (ProviderName.safeParse(name).success) return;
  throw new BerthError("provider_not_found", "There is no provider of this name.");
}
