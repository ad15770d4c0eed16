import type { AppContext } from "../context.ts";
import type { Author } from "../contract/authors.ts";
import { BerthError } from "../contract/errors.ts";
import type { ConnectMcpServer, SecretLogin } from "../contract/secret-logins.ts";
import type { SetWorkspaceSecret, WorkspaceSecret } from "../contract/vault.ts";
import type { Viewer } from "../core/http/access.ts";
import type { Caller } from "../core/http/caller.ts";
import { hasValue } from "./vault-store.ts";

/** A secret of a workspace, without its value. */
export interface WorkspaceSecretState {
  name: string;
  hosts: string[];
  headers: string[];
  /** The names of the agents that may use it; null: all. */
  agents: string[] | null;
  lastFour: string | null;
  login: SecretLogin | null;
  createdBy: Author | null;
  createdAt: Date;
  updatedAt: Date;
}

export function toWorkspaceSecretView({ createdAt, updatedAt, ...secret }: WorkspaceSecretState): WorkspaceSecret {
  return { ...secret, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
}

/** Secrets of workspaces: their agents can use them and not see them. */
export class Vault {
  readonly #context: AppContext;

  constructor(context: AppContext) {
    this.#context = context;
  }

  /** By name. */
  list(viewer: Viewer): Promise<WorkspaceSecretState[]> {
    return this.#context.stores.vault.list(viewer);
  }

  /** Throws `secret_not_found`. */
  async find(viewer: Viewer, name: string): Promise<WorkspaceSecretState> {
    const [secret] = await this.#context.stores.vault.list(viewer, name);
    if (!secret) throw notFound(name);
    return secret;
  }

  /**
   * Creates a secret, or changes the given fields of one, and gives machines that run their placeholders. `made`: it is
   * new. Throws `request_invalid`, `too_many_secrets`.
   */
  async set(
    caller: Caller,
    name: string,
    asked: SetWorkspaceSecret,
  ): Promise<{ secret: WorkspaceSecretState; made: boolean }> {
    const made = await this.#context.stores.vault.set(caller, name, asked, caller);
    await this.#changed();
    return { secret: await this.find(caller, name), made };
  }

  /** Throws `secret_not_found`. */
  async remove(accountId: string, name: string): Promise<void> {
    const { stores, secretLogins } = this.#context;
    const tokens = await stores.secretLogins.tokens(accountId, name);
    if (!(await stores.vault.remove(accountId, name))) throw notFound(name);
    if (tokens) secretLogins.revoke(tokens);
    await this.#changed();
  }

  /**
   * Begins a sign-in to an MCP server. `state`: what the browser comes back with. Throws `request_invalid`,
   * `too_many_secrets`, `mcp_sign_in_failed`.
   */
  async connect(
    caller: Caller,
    name: string,
    { agents, ...asked }: ConnectMcpServer,
  ): Promise<{ authorizationUrl: string; expiresAt: string; state: string }> {
    const { stores, secretLogins } = this.#context;
    const [known] = await stores.vault.list(caller, name);
    if (known && !known.login) throw hasValue(name);
    const { authorizationUrl, state, ...login } = await secretLogins.begin(caller.accountId, name, asked);
    const places = { hosts: [hostOf(login.url)], headers: ["authorization"] };
    await stores.vault.set(caller, name, { ...places, ...(agents !== undefined && { agents }) }, caller, login);
    await this.#changed();
    const { login: begun } = await this.find(caller, name);
    return { authorizationUrl, expiresAt: begun!.attemptExpiresAt!, state };
  }

  /** Throws `request_invalid`, `forbidden`, `secret_not_found`, `mcp_sign_in_failed`. */
  async confirm(caller: Caller, name: string, code: string): Promise<WorkspaceSecretState> {
    await this.find(caller, name);
    await this.#context.secretLogins.confirm(caller, name, code);
    return this.find(caller, name);
  }

  async #changed(): Promise<void> {
    this.#context.providers.forget();
    await this.#context.placeholders.catchUp();
  }
}

/** The only host that a token of the MCP server may be sent to. */
function hostOf(url: string): string {
  const { protocol, host } = new URL(url);
  return protocol === "http:" ? `http://${host}` : host;
}

function notFound(name: string): BerthError {
  return new BerthError("secret_not_found", `The workspace has no secret ${name}.`);
}
