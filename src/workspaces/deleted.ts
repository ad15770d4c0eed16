import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";
import { isUuid } from "../contract/ids.ts";
import type { Caller } from "../core/http/caller.ts";
import { inParallel } from "../core/in-parallel.ts";
import type { DeletedWorkspaceState, DeletedWorkspaceStore } from "./deleted-store.ts";
import type { WorkspaceState } from "./workspaces.ts";

/** How many agents a sweep suspends or deletes at a time. */
const atOnce = 4;

/** Workspaces that were deleted with their agents. These sleep until they are restored or removed. */
export class DeletedWorkspaces {
  readonly #context: AppContext;
  readonly #rows: DeletedWorkspaceStore;

  constructor(context: AppContext) {
    this.#context = context;
    this.#rows = context.stores.deletedWorkspaces;
  }

  /** Those that the person owned, the newest first. */
  list({ personId }: Caller): Promise<DeletedWorkspaceState[]> {
    return this.#rows.ofOwner(personId!);
  }

  /** Throws `workspace_not_found`. */
  async restore({ personId }: Caller, id: string): Promise<WorkspaceState> {
    if (!isUuid(id)) throw new BerthError("workspace_not_found", "You have no such deleted workspace.");
    await this.#rows.restore(personId!, id);
    return (await this.#context.stores.workspaces.find(personId!, id))!;
  }

  /**
   * Called by the timer, and after a deletion: ends the turns of this host's agents in deleted workspaces and suspends
   * them. Deletes those whose workspaces can no longer be restored, and then the workspaces.
   */
  async sweep(): Promise<void> {
    const { turns, lifecycle, stores } = this.#context;
    await this.#each(await this.#rows.beyond(), (id) => lifecycle.delete(id));
    await this.#each(await this.#rows.awake(), async (id) => {
      await turns.failRunning(id, "agent_deleted", "The agent's workspace was deleted.");
      await lifecycle.suspend(id);
    });
    for (const id of await this.#rows.empty()) await stores.workspaces.remove(id, { force: false });
  }

  /** The next sweep repeats what failed. */
  async #each(agentIds: readonly string[], act: (agentId: string) => Promise<unknown>): Promise<void> {
    const { log } = this.#context;
    await inParallel(agentIds, atOnce, (agentId) =>
      act(agentId).catch((error: unknown) => log("an agent of a deleted workspace stays for now", { agentId, error })),
    );
  }
}
