import { sql, type Transaction } from "kysely";
import { BerthError } from "../contract/errors.ts";
import { maximumSkills, maximumWorkspaceSkillBytes, type PinnedSkill, type SkillFile } from "../contract/skills.ts";
import { AllowedAgents, requireAgents } from "../core/database/allowed-agents.ts";
import { type AuthorIds, authorColumns, authorOf } from "../core/database/authors.ts";
import type { Database } from "../core/database/database.ts";
import { lockAccount } from "../core/database/lock-account.ts";
import type { Tables } from "../core/database/tables.ts";
import type { Viewer } from "../core/http/access.ts";
import type { CheckedSkill, SkillState } from "./skill.ts";

const allowed = new AllowedAgents("skills");

/** Skills of workspaces, with their files. */
export class SkillStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** By name, with the agents that the viewer sees. */
  async list(viewer: Viewer, name?: string): Promise<SkillState[]> {
    let rows = this.#database
      .selectFrom("skills")
      .select(["name", "description", "license", "compatibility", "metadata", "allowed_tools", "programs", "files"])
      .select(["size", "hash", "source", "all_agents", "created_at", "updated_at"])
      .select(authorOf("skills").as("createdBy"))
      .select(allowed.names(viewer).as("agents"))
      .where("account_id", "=", viewer.accountId);
    if (name !== undefined) rows = rows.where("name", "=", name);
    const found = await rows.orderBy("name").execute();
    return found.map(({ allowed_tools, all_agents, agents, created_at, updated_at, ...skill }) => ({
      ...skill,
      allowedTools: allowed_tools,
      agents: all_agents ? null : agents,
      createdAt: created_at,
      updatedAt: updated_at,
    }));
  }

  /** The bytes of its files; null: there is no such skill. */
  async content(accountId: string, name: string): Promise<Buffer | null> {
    const rows = this.#database.selectFrom("skills").select("content").where("account_id", "=", accountId);
    return (await rows.where("name", "=", name).executeTakeFirst())?.content ?? null;
  }

  /**
   * Creates a skill or replaces its content; without `skill`, its agents alone. `agents` undefined: they stay. True if it
   * is new. Throws `skill_not_found`, `request_invalid`, `too_many_skills`, `skills_full`.
   */
  async set(
    viewer: Viewer,
    name: string,
    { skill, agents }: { skill: CheckedSkill | null; agents: string[] | null | undefined },
    by: AuthorIds,
  ): Promise<boolean> {
    const { accountId } = viewer;
    return this.#database.transaction().execute(async (transaction) => {
      // Serialized, so that the count and the size are correct.
      await lockAccount(transaction, accountId);
      const of = transaction.selectFrom("skills").select("all_agents").where("account_id", "=", accountId);
      const known = await of.where("name", "=", name).executeTakeFirst();
      if (!known && !skill) throw noSkill(name);
      if (skill) await requireSpace(transaction, accountId, skill, known !== undefined);
      // Before the rows of the rights: an agent that is being deleted removes its own after its row was locked.
      const ids = agents ? await requireAgents(transaction, viewer, agents) : [];
      const columns = {
        ...(skill ? columnsOf(skill) : {}),
        all_agents: agents === undefined ? (known?.all_agents ?? true) : agents === null,
        ...authorColumns(by),
      };
      if (known) {
        const row = transaction.updateTable("skills").set({ ...columns, updated_at: sql`now()` });
        await row.where("account_id", "=", accountId).where("name", "=", name).execute();
      } else {
        const row = { account_id: accountId, name, ...columns, ...columnsOf(skill!) };
        await transaction.insertInto("skills").values(row).execute();
      }
      if (agents !== undefined) await allowed.set(transaction, accountId, name, ids);
      return !known;
    });
  }

  /** False if there is no such skill. */
  async remove(accountId: string, name: string): Promise<boolean> {
    const { numDeletedRows } = await this.#database
      .deleteFrom("skills")
      .where("account_id", "=", accountId)
      .where("name", "=", name)
      .executeTakeFirst();
    return numDeletedRows > 0n;
  }

  /** Gives an agent the skills that list another one of the same workspace. */
  copyRights(transaction: Database, from: string, to: string): Promise<void> {
    return allowed.copy(transaction, from, to);
  }

  /** The skills that an agent has, by name. */
  async ofAgent(agentId: string): Promise<PinnedSkill[]> {
    return this.#ofAgent(agentId).select(["skills.name", "hash"]).orderBy("skills.name").execute();
  }

  /** The files of a skill that an agent has; null: it has none of this name and hash. */
  async forAgent(
    agentId: string,
    { name, hash }: PinnedSkill,
  ): Promise<{ files: SkillFile[]; content: Buffer } | null> {
    const rows = this.#ofAgent(agentId).select(["files", "content"]).where("skills.name", "=", name);
    return (await rows.where("hash", "=", hash).executeTakeFirst()) ?? null;
  }

  #ofAgent(agentId: string) {
    return this.#database
      .selectFrom("skills")
      .innerJoin("agents", "agents.account_id", "skills.account_id")
      .where("agents.id", "=", agentId)
      .where(allowed.allows("skills"));
  }
}

export function noSkill(name: string): BerthError {
  return new BerthError("skill_not_found", `The workspace has no skill ${name}.`);
}

function columnsOf(skill: CheckedSkill) {
  const { description, license, compatibility, size, hash, content } = skill;
  return {
    ...{ description, license, compatibility, size, hash, content },
    metadata: JSON.stringify(skill.metadata),
    allowed_tools: JSON.stringify(skill.allowedTools),
    programs: JSON.stringify(skill.programs),
    files: JSON.stringify(skill.files),
    source: JSON.stringify(skill.source),
  };
}

async function requireSpace(
  transaction: Transaction<Tables>,
  accountId: string,
  { name, size }: CheckedSkill,
  isKnown: boolean,
): Promise<void> {
  const rows = transaction.selectFrom("skills").select(["name", "size"]).where("account_id", "=", accountId);
  const others = (await rows.execute()).filter((row) => row.name !== name);
  if (!isKnown && others.length >= maximumSkills)
    throw new BerthError("too_many_skills", `A workspace can have up to ${maximumSkills} skills; delete one first.`);
  const used = others.reduce((sum, row) => sum + row.size, 0);
  if (used + size > maximumWorkspaceSkillBytes)
    throw new BerthError(
      "skills_full",
      `The files of a workspace's skills have up to ${maximumWorkspaceSkillBytes / 1024 ** 2} MiB together; delete a skill first.`,
    );
}
