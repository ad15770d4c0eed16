import type { Author } from "../contract/authors.ts";
import { BerthError } from "../contract/errors.ts";
import type { Skill, SkillFile, SkillSource, SkillSummary } from "../contract/skills.ts";
import { hashOf, instructionsFile, isProgram, type SkillBytes } from "./files.ts";
import { type FrontMatter, frontMatterOf } from "./front-matter.ts";

/** The content of a skill that was checked. */
export interface CheckedSkill extends FrontMatter {
  hash: string;
  size: number;
  programs: string[];
  files: SkillFile[];
  /** The bytes of `files`, one after the other. */
  content: Buffer;
  source: SkillSource;
}

/** A skill of a workspace, without its content. */
export interface SkillState extends Omit<CheckedSkill, "content"> {
  /** The names of the agents that have it; null: all. */
  agents: string[] | null;
  createdBy: Author | null;
  createdAt: Date;
  updatedAt: Date;
}

/** Checks a skill's files. Throws `skill_invalid`, `skill_changed`. */
export function checkedSkill(
  files: readonly SkillBytes[],
  { name, hash, source }: { name: string; hash: string | undefined; source: SkillSource },
): CheckedSkill {
  const facts = frontMatterOf(files);
  if (facts.name !== name)
    throw new BerthError(
      "skill_invalid",
      `The skill is not valid: its SKILL.md has the name ${facts.name}, not ${name}.`,
    );
  const found = hashOf(files);
  if (hash !== undefined && hash !== found)
    throw new BerthError(
      "skill_changed",
      `The content of ${name} has the hash ${found}, not the one that was asked for.`,
    );
  const content = Buffer.concat(files.map(({ bytes }) => bytes));
  return {
    ...facts,
    hash: found,
    size: content.length,
    programs: files.filter(isProgram).map(({ path }) => path),
    files: files.map(({ path, executable, bytes }) => ({ path, size: bytes.length, executable })),
    content,
    source,
  };
}

/** The files of a stored skill, with their bytes. */
export function filesOf({ files, content }: { files: readonly SkillFile[]; content: Buffer }): SkillBytes[] {
  let at = 0;
  return files.map(({ path, size, executable }) => {
    const bytes = content.subarray(at, at + size);
    at += size;
    return { path, executable, bytes };
  });
}

export function toSkillSummary({ files: _, createdAt, updatedAt, ...skill }: SkillState): SkillSummary {
  return { ...skill, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
}

export function toSkillView(skill: SkillState, content: Buffer): Skill {
  const instructions = filesOf({ files: skill.files, content }).find(({ path }) => path === instructionsFile);
  return { ...toSkillSummary(skill), files: skill.files, instructions: instructions?.bytes.toString("utf8") ?? "" };
}
