import type { Generated, JSONColumnType } from "kysely";
import type { SkillFile, SkillSource } from "../contract/skills.ts";

/** The tables of skills, after all migrations. */
export interface SkillTables {
  skills: {
    account_id: string;
    name: string;
    description: string;
    license: string | null;
    compatibility: string | null;
    metadata: JSONColumnType<Record<string, string>>;
    allowed_tools: JSONColumnType<string[]>;
    programs: JSONColumnType<string[]>;
    files: JSONColumnType<SkillFile[]>;
    content: Buffer;
    size: number;
    hash: string;
    source: JSONColumnType<SkillSource>;
    all_agents: boolean;
    person_id: string | null;
    key_id: string | null;
    created_at: Generated<Date>;
    updated_at: Generated<Date>;
  };
  skill_agents: { account_id: string; name: string; agent_id: string };
}
