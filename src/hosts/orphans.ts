import type { AgentState } from "../agents/agent.ts";
import type { AgentOwner } from "../agents/agents.ts";
import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";
import type { GiveBackOrphan, Orphan } from "../contract/orphans.ts";
import { SerialQueue } from "../core/locks.ts";

const dayMs = 86_400_000;

/** The quarantine: files that no row of the database named when a server found them. */
export class Orphans {
  readonly #context: AppContext;
  /** Recovered files are not removed in the meantime. */
  readonly #changes = new SerialQueue();

  constructor(context: AppContext) {
    this.#context = context;
  }

  /** The orphans on this host, oldest first. */
  async list(): Promise<Orphan[]> {
    const { machines, archives, config } = this.#context;
    const found = [...(await machines.quarantined()), ...(await archives.quarantined())];
    return found
      .map((each) => ({
        ...each,
        removedAt: new Date(Date.parse(each.quarantinedAt) + config.quarantineDays * dayMs).toISOString(),
      }))
      .sort((one, other) => Date.parse(one.quarantinedAt) - Date.parse(other.quarantinedAt));
  }

  /**
   * Creates a suspended agent from a machine or a snapshot. Its runtime continues the conversation if that was the
   * agent's first one. Throws `orphan_not_found`, `not_supported_here`, `agent_exists`, `user_not_found`,
   * `account_not_found`, `request_invalid`.
   */
  giveBack(callerAccount: string, id: string, wanted: GiveBackOrphan): Promise<AgentState> {
    return this.#changes.run(id, () => this.#giveBack(callerAccount, id, wanted));
  }

  async #giveBack(callerAccount: string, id: string, asked: GiveBackOrphan): Promise<AgentState> {
    const { name, account, user } = asked;
    const { agents, stores, machines, billing } = this.#context;
    const { kind } = await this.#find(id);
    if (kind === "import") {
      const message = "An archive in the quarantine cannot be given back: import it again from its file.";
      throw new BerthError("not_supported_here", message);
    }
    const accountId = await billing.accountOf(user === undefined ? { account: account ?? callerAccount } : { user });
    const { runtime, resources, generation, restarts, restores } = await machines.quarantinedMachine(id);
    const isMachine = kind === "machine";
    const owner = await this.#ownerOf(id, accountId, asked);
    const agent: AgentState = {
      ...agents.newAgent(isMachine ? id : crypto.randomUUID(), owner, { name, runtime, private: owner.private }),
      resources,
      hasMachine: isMachine,
      desired: "suspended",
      status: "suspended",
      generation: generation + 1,
      restarts,
      restores: isMachine ? restores : 1,
      snapshot: isMachine ? null : id,
    };
    const before = isMachine ? await stores.agents.byId(id) : null;
    if (before) return this.#finish(before, agent);
    await stores.agents.insert(agent);
    try {
      await machines.releaseQuarantined(id);
    } catch (error) {
      // The files may have left it already.
      if (isMachine) await machines.quarantine(id);
      await stores.lifecycle.withdraw(agent.id);
      throw error;
    }
    return agent;
  }

  /** A private agent stays its maker's. Any other may have been private, too, unless the operator says that it was not. */
  async #ownerOf(
    id: string,
    accountId: string,
    { private: isPrivate }: GiveBackOrphan,
  ): Promise<AgentOwner & Pick<AgentState, "private">> {
    const { stores } = this.#context;
    const former = await stores.agents.formerPrivate(id);
    if (former) {
      if (former.accountId === accountId && isPrivate !== false) return { ...former, private: true };
      const message = `The agent was private: give it back to the account ${former.accountId}, and leave \`private\` out.`;
      throw new BerthError("request_invalid", message);
    }
    const owner = isPrivate === false ? "nobody" : await stores.people.onlyOwner(accountId);
    if (owner === "several" || (owner === "nobody" && isPrivate)) {
      const message = `private: the agent's maker is unknown, and the account has ${owner === "several" ? "several members" : "no members"}. Set it to false, and all members see the files, or choose another account.`;
      throw new BerthError("request_invalid", message);
    }
    if (owner === "nobody") return { accountId, personId: null, personName: null, private: false };
    return { accountId, personId: owner.id, personName: owner.name, private: true };
  }

  /**
   * Resumes after a crash between the agent's row and its files. Throws `agent_exists` if a different agent is
   * requested.
   */
  async #finish(before: AgentState, wanted: AgentState): Promise<AgentState> {
    if (before.accountId !== wanted.accountId || before.name !== wanted.name) {
      throw new BerthError(
        "agent_exists",
        `The machine belongs to the agent ${before.name}: give it back to that one.`,
      );
    }
    await this.#context.machines.releaseQuarantined(before.id);
    return before;
  }

  /** Removes files from the quarantine for good. Throws `orphan_not_found`. */
  async remove(id: string): Promise<void> {
    await this.#changes.run(id, async () => this.#remove(await this.#find(id)));
  }

  /** Removes expired orphans. Called once a day and at the start. */
  async expire(): Promise<void> {
    for (const orphan of await this.list()) {
      if (Date.parse(orphan.removedAt) > Date.now()) continue;
      // Recovered ones are no longer there.
      await this.#changes.run(orphan.id, () => this.#remove(orphan));
      this.#context.log("files were removed from the quarantine by age", { id: orphan.id, kind: orphan.kind });
    }
  }

  async #remove({ id, kind }: Pick<Orphan, "id" | "kind">): Promise<void> {
    const { machines, archives } = this.#context;
    await (kind === "import" ? archives : machines).removeQuarantined(id);
  }

  /** An archive and the machine that was being created from it share an id. The machine comes first. */
  async #find(id: string): Promise<Orphan> {
    const found = (await this.list()).filter((each) => each.id === id);
    const one = found.find(({ kind }) => kind !== "import") ?? found[0];
    if (one) return one;
    throw new BerthError("orphan_not_found", "The quarantine of this host has no files of this id.");
  }
}
