import type { Skill, SkillSummary } from "@berth/client";
import { Option } from "commander";
import type { ToolCommand } from "../command.ts";
import { connect } from "../connect.ts";
import { CliError } from "../errors.ts";
import { repeatable } from "../options.ts";
import { readSkill } from "../skill-folder.ts";
import { printable } from "../terminal.ts";
import { localTime } from "../time.ts";
import { note } from "../verbosity.ts";

const about = {
  skill: "the skill's name",
  source: "a folder with a SKILL.md, a tar, tar.gz or zip of one, or a git address, https://…",
};

const addHelp = `
The skill has the name of its folder, archive or repository, which its SKILL.md must have, too; --name gives another. If there
is such a skill, its files are replaced, and its agents stay if none are given. Agents have it from their next turn on.
The service reads a repository once: the skill stays at that commit until it is added again.

Examples:
  berth skills add ./pdf-forms
  berth skills add pdf-forms.zip --agent ada --agent bob
  berth skills add https://github.com/example/skills --path skills/pdf-forms --ref v1`;

interface AgentOptions {
  agent?: string[];
  allAgents?: true;
  /** False with `--no-agents`. */
  agents: boolean;
}

export function register(program: ToolCommand): void {
  const skills = program.add("skills", "manage skills that several agents of a workspace have");
  skills.add("list", "list the workspace's skills").lists({
    list: () => connect().skills.list(),
    empty: "The workspace has no skills. To add one: berth skills add FOLDER",
    columns: {
      NAME: "name",
      HASH: ({ hash }: SkillSummary) => hash.slice(0, 12),
      AGENTS: ({ agents }) => agentsText(agents),
      PROGRAMS: ({ programs }) => String(programs.length),
      TOOLS: ({ allowedTools }) => printable(allowedTools.join(" ")),
    },
  });
  skills
    .add("show <skill>", "show a skill, its files and what it may run", about)
    .prints((skill: string) => connect().skills.get(skill), skillText);
  withAgents(skills.add("add <source>", "add a skill, or replace its files", about))
    .option("--name <name>", "the skill's name, if it is not that of the folder or archive")
    .option("--ref <ref>", "a branch, a tag or a commit of the repository (default: its HEAD)")
    .option("--path <path>", "the skill's folder in the repository (default: its root)")
    .option("--hash <hash>", "refuse the skill if its content has another hash")
    .addHelpText("after", addHelp)
    .prints(add, skillText);
  withAgents(skills.add("update <skill>", "change which agents have a skill", about)).prints(
    (skill: string, options: AgentOptions) => connect().skills.set(skill, { agents: requiredAgents(options) }),
    skillText,
  );
  skills
    .add("remove <skill>", "delete a skill", about)
    .confirms(
      (skill: string) => `Delete ${printable(skill)}? Agents no longer have it from their next turn on.`,
      "Nothing was deleted.",
    )
    .prints(
      (skill: string) => connect().skills.delete(skill),
      (_, skill) => note(`Deleted ${printable(skill)}.`),
    );
}

function withAgents(command: ToolCommand): ToolCommand {
  return command
    .addOption(repeatable("--agent <name>", "an agent that has it; can be repeated (default for a new skill: all)"))
    .addOption(new Option("--all-agents", "all agents have it, also later ones").conflicts("agent"))
    .addOption(new Option("--no-agents", "no agent has it").conflicts(["agent", "allAgents"])) as ToolCommand;
}

interface AddOptions extends AgentOptions {
  name?: string;
  hash?: string;
  ref?: string;
  path?: string;
}

async function add(source: string, options: AddOptions): Promise<Skill> {
  const { ref, path, hash } = options;
  const agents = agentsOf(options);
  const fields = { ...(hash !== undefined && { hash }) };
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(source)) {
    const git = { url: source, ref: ref ?? null, path: path ?? null };
    return connect().skills.set(options.name ?? nameIn(path ?? source), {
      git,
      ...fields,
      ...(agents !== undefined && { agents }),
    });
  }
  if (ref !== undefined || path !== undefined)
    throw new CliError("--ref and --path are for a git address, https://….", 2);
  const local = await readSkill(source);
  const skill = options.name ?? local.name;
  const { skills } = connect();
  const added = await skills.upload(skill, local.archive, { ...fields, ...(agents && { agents }) });
  return agents === null ? skills.set(skill, { agents }) : added;
}

/** The last name of a path or an address. */
function nameIn(path: string): string {
  return path
    .replace(/\/+$/, "")
    .replace(/^.*\//, "")
    .replace(/\.git$/, "");
}

function requiredAgents(options: AgentOptions): string[] | null {
  const agents = agentsOf(options);
  if (agents === undefined) throw new CliError("Nothing to change. Pass --agent NAME, --all-agents or --no-agents.", 2);
  return agents;
}

/** Undefined: they stay. */
function agentsOf({ agent, allAgents, agents }: AgentOptions): string[] | null | undefined {
  if (allAgents) return null;
  return agents ? agent : [];
}

function agentsText(agents: readonly string[] | null): string {
  if (agents === null) return "all";
  return agents.length === 0 ? "none" : agents.join(", ");
}

/** Texts of a skill are its author's. */
function skillText(skill: Skill): string {
  const { name, description, compatibility, license, allowedTools, programs, hash, agents, files, updatedAt } = skill;
  return [
    `${name} was set ${localTime(updatedAt)}, with the hash ${hash}.`,
    `From: ${sourceText(skill.source)}`,
    `Description: ${printable(description)}`,
    ...(license === null ? [] : [`License: ${printable(license)}`]),
    ...(compatibility === null ? [] : [`Requires: ${printable(compatibility)}`]),
    `Agents: ${agentsText(agents)}`,
    `Tools: ${printable(allowedTools.join(" ")) || "none named"}`,
    `Programs: ${printable(programs.join(", ")) || "none"}`,
    "Files:",
    ...files.map(({ path, size, executable }) => `  ${printable(path)}  ${size} B${executable ? "  executable" : ""}`),
  ].join("\n");
}

function sourceText(source: Skill["source"]): string {
  if (source.type === "archive") return "an archive";
  return `${printable(source.url)}${source.path === null ? "" : `, ${printable(source.path)}`}, at the commit ${source.commit}`;
}
