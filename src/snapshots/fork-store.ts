import type { AgentState } from "../agents/agent.ts";
import type { AgentStore } from "../agents/store.ts";
import { copyConversations } from "../conversations/archive-store.ts";
import { nobody } from "../core/database/authors.ts";
import { EgressRuleStore } from "../egress/rule-store.ts";
import type { SecretStore } from "../secrets/store.ts";
import type { VaultStore } from "../secrets/vault-store.ts";
import type { SkillStore } from "../skills/store.ts";

/** Rows of forks, with their egress rules, secrets and skills. */
export class ForkStore {
  readonly #agents: AgentStore;
  readonly #secrets: SecretStore;
  readonly #vault: VaultStore;
  readonly #skills: SkillStore;

  constructor(agents: AgentStore, secrets: SecretStore, vault: VaultStore, skills: SkillStore) {
    this.#agents = agents;
    this.#secrets = secrets;
    this.#vault = vault;
    this.#skills = skills;
  }

  byId(id: string): Promise<AgentState | null> {
    return this.#agents.byId(id);
  }

  byNames(accountId: string, names: readonly string[]): Promise<{ name: string }[]> {
    return this.#agents.byNames(accountId, names);
  }

  /** `until`: the time of the source's state; null: now. */
  async insert(
    forks: readonly AgentState[],
    source: string,
    options: { secrets: boolean; until: Date | null },
  ): Promise<void> {
    const copies = await Promise.all(
      forks.map(({ id }) => (options.secrets ? this.#secrets.copyOf(source, id) : null)),
    );
    await this.#agents.insertWith(forks, async (transaction) => {
      const rules = new EgressRuleStore(transaction);
      const lists = await rules.of(source);
      for (const [index, fork] of forks.entries()) {
        const { id } = fork;
        await copyConversations(transaction, source, fork, options.until);
        await rules.set(id, lists, nobody);
        const copy = copies[index];
        await this.#skills.copyRights(transaction, source, id);
        if (options.secrets) await this.#vault.copyRights(transaction, source, id);
        if (copy) await this.#secrets.insertCopy(transaction, id, copy);
      }
    });
  }
}
