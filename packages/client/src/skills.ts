import type { Bytes, RequestOptions } from "./connection.ts";
import { SkillsMethods } from "./generated/methods.gen.ts";
import type { Skill } from "./generated/types.gen.ts";

/** Skills of the workspace. Every method throws as `Connection.call`. */
export class Skills extends SkillsMethods {
  /**
   * Adds a skill from a tar, a tar.gz or a zip of its folder, or replaces its files. `agents`: those that have it; if not
   * given they stay, and a new skill is for all. `hash`: the one that the content must have.
   */
  upload(
    skill: string,
    archive: Bytes,
    { agents, hash, ...options }: RequestOptions & { agents?: readonly string[]; hash?: string } = {},
  ): Promise<Skill> {
    const query = { ...(agents && { agents: agents.join(",") }), ...(hash !== undefined && { hash }) };
    return this.connection.upload("uploadSkill", archive, { path: { skill }, query, ...options });
  }
}
