import { z } from "zod";
import { AgentName } from "./agents.ts";
import { CreatedBy } from "./authors.ts";
import { limitedRecord } from "./validation.ts";

/** How many skills a workspace can have. */
export const maximumSkills = 50;
/** The most bytes of a skill's files, and of those of all skills of a workspace. */
export const maximumSkillBytes = 4 * 1024 * 1024;
export const maximumWorkspaceSkillBytes = 32 * 1024 * 1024;
export const maximumSkillFiles = 500;
/** The largest archive of a skill, in bytes. */
export const maximumSkillArchive = 8 * 1024 * 1024;
/** The longest path of a file in a skill, in bytes. */
export const maximumSkillPath = 256;
/** How many tools a skill can name, and the longest name of one. */
export const maximumSkillTools = 100;
export const maximumSkillToolName = 500;
/** How many entries a skill's metadata can have. */
export const maximumSkillMetadata = 100;
/** How many agents a request can name. */
const maximumAgents = 1_000;

/** https://agentskills.io/specification */
export const SkillName = z
  .string()
  .max(64, "A skill's name has up to 64 characters.")
  .regex(
    /^[a-z0-9]+(-[a-z0-9]+)*$/,
    "A skill's name has a-z, 0-9 and single hyphens, which are neither first nor last.",
  )
  .meta({ description: "The `name` of its SKILL.md, and its folder in the machine.", examples: ["pdf-forms"] });

const SkillHash = z
  .string()
  .regex(/^[0-9a-f]{64}$/, "A skill's hash has 64 characters of 0-9 and a-f.")
  .meta({
    description:
      "The SHA-256 of a text with one line for each file, in the order of the paths' bytes: the SHA-256 of its content, a space, `x` if it is executable or `-`, a space, the path, a line feed.",
  });

const Agents = z.array(AgentName).max(maximumAgents, `Up to ${maximumAgents} agents can be named.`);

const agentNames = /^([a-z][a-z0-9-]{1,28}[a-z0-9](,[a-z][a-z0-9-]{1,28}[a-z0-9])*)?$/;

/** The query of an upload. */
export const SkillArchiveQuery = z.strictObject({
  agents: z
    .string()
    .max(31 * maximumAgents)
    .regex(agentNames, "agents are names of agents, with commas between them.")
    .optional()
    .meta({
      description:
        "The agents that have it, by name, with commas between them; empty: none. If not given, they stay; a new skill is for all.",
    }),
  hash: SkillHash.optional().meta({ description: "Refuse the archive if its content has another hash." }),
});

const SkillGit = z
  .strictObject({
    url: z.string().max(2_000).meta({ description: "The address of a public repository: https://HOST/PATH." }),
    ref: z
      .string()
      .max(200)
      .regex(/^[^\s\0-\x20~^:?*[\\\x7f]+$/, "A ref is the name of a branch or a tag, or a commit's id.")
      .nullable()
      .default(null)
      .meta({ description: "A branch, a tag or a commit. Null: HEAD. It is resolved to a commit once." }),
    path: z
      .string()
      .max(1_000)
      .nullable()
      .default(null)
      .meta({ description: "The skill's folder in the repository. Null: its root." }),
  })
  .meta({ id: "SkillGit", description: "A folder of a git repository, which the service reads once." });

/** Fields that are not given keep what they were. */
export const SetSkill = z
  .strictObject({
    git: SkillGit.optional().meta({ description: "Adds the skill from there, or replaces its files." }),
    hash: SkillHash.optional().meta({ description: "With `git`: refuse content with another hash." }),
    agents: Agents.nullable().optional().meta({
      description: "The agents that have it, by name. Null: all, also those that are created later. Empty: none.",
    }),
  })
  .refine(({ git, hash }) => git !== undefined || hash === undefined, "hash: it is for content from git alone.")
  .meta({ id: "SetSkill", description: "Fields that are not given keep what they were." });
export type SetSkill = z.infer<typeof SetSkill>;

const SkillSource = z
  .discriminatedUnion("type", [
    z.object({ type: z.literal("archive") }),
    z.object({
      type: z.literal("git"),
      url: z.string().max(2_000),
      ref: z.string().max(200).nullable(),
      path: z.string().max(1_000).nullable(),
      commit: z.string().max(64).meta({ description: "The id of the commit." }),
    }),
  ])
  .meta({ id: "SkillSource", description: "Where its content came from." });
export type SkillSource = z.infer<typeof SkillSource>;

export const SkillFile = z
  .object({
    path: z.string().max(maximumSkillPath),
    size: z.int().min(0).meta({ description: "In bytes." }),
    executable: z.boolean(),
  })
  .meta({ id: "SkillFile" });
export type SkillFile = z.infer<typeof SkillFile>;

const time = z.iso.datetime();

const summary = {
  name: SkillName,
  description: z.string().max(1024),
  license: z.string().nullable(),
  compatibility: z
    .string()
    .nullable()
    .meta({ description: "The requirements on its environment, as its author states them." }),
  metadata: limitedRecord(z.string(), z.string(), maximumSkillMetadata),
  allowedTools: z.array(z.string().max(maximumSkillToolName)).max(maximumSkillTools).meta({
    description:
      "The tools that it says it uses, `allowed-tools`. They give no rights: the agent's permissions decide about each use.",
  }),
  programs: z.array(z.string().max(maximumSkillPath)).max(maximumSkillFiles).meta({
    description: "The paths of the files that it may run: executable ones, scripts, and all below `scripts`.",
  }),
  hash: SkillHash,
  size: z.int().min(0).meta({ description: "The bytes of all files." }),
  source: SkillSource,
  agents: z.array(z.string()).nullable().meta({
    description: "The agents that have it, by name, without other people's private ones. Null: all.",
  }),
  createdBy: CreatedBy.meta({ description: "The author of the last change." }),
  createdAt: time,
  updatedAt: time,
};

export const SkillSummary = z.object(summary).meta({ id: "SkillSummary" });
export type SkillSummary = z.infer<typeof SkillSummary>;

export const Skill = z
  .object({
    ...summary,
    instructions: z.string().meta({ description: "Its SKILL.md, complete." }),
    files: z.array(SkillFile).max(maximumSkillFiles),
  })
  .meta({ id: "Skill" });
export type Skill = z.infer<typeof Skill>;

export const SkillList = z
  .object({ data: z.array(SkillSummary), nextCursor: z.string().nullable() })
  .meta({ id: "SkillList", description: "The workspace's skills by name, without their files." });

export const SkillParams = z.object({ skill: SkillName });

/** A skill of a turn's agent. */
export const PinnedSkill = z.object({ name: SkillName, hash: SkillHash });
export type PinnedSkill = z.infer<typeof PinnedSkill>;

/** A skill's files, as the server gives them to a machine. */
export const SkillContent = z.object({
  files: z
    .array(z.object({ path: z.string().max(maximumSkillPath), executable: z.boolean(), data: z.base64() }))
    .max(maximumSkillFiles),
});
export type SkillContent = z.infer<typeof SkillContent>;
