import type { AppContext } from "../context.ts";
import type { Author } from "../contract/authors.ts";
import { BerthError } from "../contract/errors.ts";
import type { SetWorkspaceSecret, WorkspaceSecret } from "../contract/vault.ts";
import type { Viewer } from "../core/http/access.ts";
import type { Caller } from "../core/http/caller.ts";

/** A secret of a workspace, without its value. */
export interface WorkspaceSecretState {
  name: string;
  hosts: string[];
  headers: string[];
  /** The names of the agents that may use it; null: all. */
  agents: string[] | null;
  lastFour: string | null;
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
    this.#context.providers.forget();
    await this.#context.placeholders.catchUp();
    return { secret: await this.find(caller, name), made };
  }

  /** Throws `secret_not_found`. */
  async remove(accountId: string, name: string): Promise<void> {
    if (!(await this.#context.stores.vault.remove(accountId, name))) throw notFound(name);
    this.#context.providers.forget();
    await this.#context.placeholders.catchUp();
  }
}

function notFound(name: string): BerthError {
  return new BerthError("secret_not_found", `The workspace has no secret ${name}.`);
}
