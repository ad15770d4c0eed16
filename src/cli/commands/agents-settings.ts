import type { Agent, ChangeAgent } from "@berth/client";
import { InvalidArgumentError, Option } from "commander";
import type { ToolCommand } from "../command.ts";
import { agentOf, connect } from "../connect.ts";
import { CliError } from "../errors.ts";
import { type InstallOptions, runInstallation } from "../installation.ts";
import { noWaitOption, positiveNumber } from "../options.ts";
import { textOf } from "../streams.ts";
import { printable, writeJson } from "../terminal.ts";

type McpServers = Agent["mcpServers"];
type Permissions = NonNullable<ChangeAgent["permissions"]>;
type Schedules = NonNullable<ChangeAgent["schedules"]>;
type Effort = NonNullable<ChangeAgent["effort"]>;
type AcpProgram = NonNullable<Agent["acp"]>;
type Limits = Pick<Agent, "maxCredits" | "maxMinutes" | "maxToolCalls">;

export interface LimitOptions {
  maxCredits?: string;
  maxMinutes?: number | "none";
  maxToolCalls?: number | "none";
}

/** The options shared by both commands. */
interface SettingOptions extends InstallOptions, LimitOptions {
  runtime?: string;
  acp?: AcpProgram;
  model?: string;
  effort?: Effort | "default";
  fallbacks?: string[];
  instructions?: string;
  mcpServers?: McpServers;
  agents?: string[];
  autoSnapshot?: number;
  permissions?: Permissions;
  schedules?: Schedules | "none";
  private?: boolean;
}

interface CreateOptions extends SettingOptions {
  from?: string;
  snapshot?: string;
  withSecrets?: true;
  count?: number;
}

interface UpdateOptions extends SettingOptions {
  defaultModel?: true;
  noInstructions?: true;
}

/** Adds `berth agents create`. */
export function addCreate(agents: ToolCommand): void {
  const name = "3 to 30 characters: a-z, 0-9 and hyphens, starting with a letter";
  const count = new Option("--count <number>", "with --from: create this many agents, NAME-1, NAME-2, …");
  agents
    .add("create <name>", "create an agent and wait until it is ready", { name })
    .option("-r, --runtime <runtime>", "the agent's runtime (see berth runtimes)")
    .option(...acpOption)
    .option("-m, --model <model>", "the model's id (see berth models); default: the runtime's own")
    .addOption(agentEffortOption())
    .option(...fallbacksOption)
    .option("-i, --instructions <text>", "instructions for every turn; - reads standard input")
    .option(...mcpServersOption)
    .option(...agentsOption)
    .option(...autoSnapshotOption)
    .option(...permissionsOption)
    .option(...schedulesOption)
    .option(...limitOptions[0])
    .option(...limitOptions[1])
    .option(...limitOptions[2])
    .option("--private", "only you see and use it in this workspace")
    .option("--from <agent>", "start with another agent's files, running programs and conversation")
    .option("--snapshot <snapshot>", "with --from: the state at this snapshot, by name or id")
    .option("--with-secrets", "with --from: copy the agent's secrets too")
    .addOption(count.argParser(positiveNumber))
    .addOption(noWaitOption())
    .runs(createAgent);
}

/** Adds `berth agents update`. */
export function addUpdate(agents: ToolCommand): void {
  // Not the negation of `--instructions`: then the last one given would win. Instead, the two conflict.
  const noInstructions = new Option("--no-instructions", "remove the instructions").conflicts("instructions");
  noInstructions.negate = false;
  agents
    .add("update <name>", "change an agent's settings from its next turn on")
    .option("-r, --runtime <runtime>", "another runtime, which continues with its files and conversation")
    .option(...acpOption)
    .option("-m, --model <model>", "the model's id (see berth models)")
    .addOption(new Option("--default-model", "the runtime's own default model").conflicts("model"))
    .addOption(agentEffortOption())
    .option(...fallbacksOption)
    .option("-i, --instructions <text>", "instructions for every turn; - reads standard input")
    .addOption(noInstructions)
    .option(...mcpServersOption)
    .option(...agentsOption)
    .option(...autoSnapshotOption)
    .option(...permissionsOption)
    .option(...schedulesOption)
    .option(...limitOptions[0])
    .option(...limitOptions[1])
    .option(...limitOptions[2])
    .option("--private", "only you, its maker, see and use it in this workspace")
    .option("--no-private", "the workspace's members see and use it")
    .option("--no-wait", "with --runtime: do not wait until the agent is ready")
    .runs(updateAgent);
}

async function createAgent(name: string, options: CreateOptions): Promise<void> {
  const { from, snapshot, withSecrets = false, count } = options;
  if (from === undefined && (snapshot !== undefined || withSecrets || count !== undefined)) {
    throw new CliError("--snapshot, --with-secrets and --count need --from AGENT.");
  }
  const source = from === undefined ? undefined : { agent: from, ...(snapshot && { snapshot }), secrets: withSecrets };
  const body = { ...(await settingsOf(options)), name, from: source, count };
  // With `count`, all are made at once; the response is the first, which represents them.
  await runInstallation("created", () => connect().agents.create(body), options);
}

async function updateAgent(name: string, options: UpdateOptions): Promise<void> {
  const change = await changeOf(options);
  if (Object.keys(change).length === 0) {
    throw new CliError(
      "Nothing to change. Pass at least one of --runtime, --acp, --model, --default-model, --effort, --fallbacks, --instructions, --no-instructions, --mcp-servers, --agents, --auto-snapshot, --permissions, --schedules, --max-credits, --max-minutes, --max-tool-calls, --private or --no-private.",
      2,
    );
  }
  const update = () => agentOf(name).update(change);
  if (change.runtime !== undefined) return runInstallation("changed", update, options);
  const agent = await update();
  if (options.json) writeJson(process.stdout, agent);
  else {
    const changed = changedText(change, agent);
    if (changed !== "") console.log(`${printable(name)} has ${changed} from its next turn on.`);
    if (change.private !== undefined) console.log(`${printable(name)} is ${visibilityText(agent)}.`);
  }
}

async function changeOf(options: UpdateOptions): Promise<ChangeAgent> {
  const settings = {
    ...(await settingsOf(options)),
    ...(options.defaultModel && { model: null }),
    ...(options.noInstructions && { instructions: null }),
  };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

async function settingsOf(options: SettingOptions) {
  const { runtime, acp, model, instructions, mcpServers, agents, autoSnapshot, permissions } = options;
  const fallbackModels = options.fallbacks;
  const effort = options.effort === "default" ? null : options.effort;
  const schedules = options.schedules === undefined ? undefined : limitOf(options.schedules);
  const text = instructions === undefined ? undefined : await textOf(instructions);
  const all = {
    runtime,
    acp,
    model,
    effort,
    fallbackModels,
    instructions: text,
    mcpServers,
    agents,
    autoSnapshot,
    permissions,
  };
  return { ...all, private: options.private, ...(schedules !== undefined && { schedules }), ...limitsOf(options) };
}

/** The changed fields with the agent's current values. */
function changedText(change: ChangeAgent, agent: Agent): string {
  const { model, instructions, mcpServers, agents, autoSnapshot, permissions } = agent;
  const texts: { [Field in keyof ChangeAgent]: string } = {
    acp: `the program ${printable(programText(agent.acp))}`,
    model: model === null ? "its runtime's default model" : `the model ${printable(model)}`,
    effort: agent.effort === null ? "its model's default effort" : `the effort ${agent.effort}`,
    fallbackModels: `the fallback models ${agent.fallbackModels.map(printable).join(", ") || "none"}`,
    instructions: instructions === null ? "no instructions" : "the new instructions",
    mcpServers: `the MCP servers ${Object.keys(mcpServers).join(", ") || "none"}`,
    agents: agents.length === 0 ? "no agents to call" : `the agents ${agents.join(" and ")} to call`,
    autoSnapshot:
      autoSnapshot === 0 ? "no snapshots from before turns" : `snapshots from before its last ${autoSnapshot} turns`,
    permissions: `the permissions ${permissionsText(permissions)}`,
    schedules: agent.schedules ? `up to ${agent.schedules.max} schedules of its own` : "no schedules of its own",
    maxCredits: `${agent.maxCredits ?? "no limit of"} credits a turn`,
    maxMinutes: `${agent.maxMinutes ?? "no limit of"} minutes a turn`,
    maxToolCalls: `${agent.maxToolCalls ?? "no limit of"} tool calls a turn`,
  };
  const changed = Object.entries(texts).filter(([field]) => field in change);
  return changed.map(([, text]) => text).join(" and ");
}

/** The people who see an agent. */
export function visibilityText({ private: isPrivate, maker }: Pick<Agent, "private" | "maker">): string {
  return isPrivate ? `private to ${printable(maker?.name ?? "its maker")}` : "shared with the workspace";
}

const agentsOption = [
  "--agents <names>",
  'other agents that it may call as tools, separated by commas; "": none',
  (names: string) => names.split(",").flatMap((name) => name.trim() || []),
] as const;

const efforts: Effort[] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

function agentEffortOption(): Option {
  const option = new Option(
    "--effort <level>",
    "how much the model reasons before it answers; default: the model's own",
  );
  return option.choices([...efforts, "default"]);
}

/** The effort of one message. */
export function effortOption(): Option {
  return new Option("--effort <level>", "how much the model reasons; default: the agent's effort").choices(efforts);
}

const acpOption = [
  "--acp <command>",
  'with the runtime acp: its program and arguments, separated by spaces, or as a JSON list: ["npx", "-y", "…"]',
  parseProgram,
] as const;

function parseProgram(text: string): AcpProgram {
  const words = text.trim().startsWith("[") ? parseJson(text) : text.trim().split(/\s+/);
  if (!Array.isArray(words) || words.some((word) => typeof word !== "string"))
    throw new InvalidArgumentError("Expected a list of texts.");
  const [command = "", ...args] = words as string[];
  return { command, args };
}

/** As a person would type it; "none" without a program. */
export function programText(program: Agent["acp"]): string {
  return program === null ? "none" : [program.command, ...program.args].join(" ");
}

const fallbacksOption = [
  "--fallbacks <models>",
  'models that answer, in order, where its model is overloaded or out of reach, separated by commas; "": none',
  (ids: string) => ids.split(",").flatMap((id) => id.trim() || []),
] as const;

const autoSnapshotOption = [
  "--auto-snapshot <number>",
  "keep a snapshot of the files from before each of the last N turns (default for a new agent: 5); 0 for none",
  (given: string) => (given === "0" ? 0 : positiveNumber(given)),
] as const;

const mcpServersOption = [
  "--mcp-servers <json>",
  'MCP servers by name, as JSON: {"github": {"url": "https://…", "headers": {…}}, "files": {"command": "npx", "args": […]}}',
  parseMcpServers,
] as const;

const permissionsOption = [
  "--permissions <json>",
  'what its tools may do, as JSON: {"execute": "ask", "fetch": "deny", "rules": [{"kind": "execute", "pattern": "git *", "decision": "allow"}]}; {}: everything',
  parsePermissions,
] as const;

function parsePermissions(text: string): Permissions {
  return parseJson(text) as Permissions;
}

const schedulesOption = [
  "--schedules <json>",
  'let it schedule messages to itself, as JSON: {"max": 5, "everyMinutes": 60, "maxCredits": "10"}; {}: these limits; none: do not',
  (text: string) => (text === "none" ? text : (parseJson(text) as Schedules)),
] as const;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidArgumentError("Not valid JSON.");
  }
}

/** Each takes `none` for no limit. */
export const limitOptions = [
  ["--max-credits <credits>", "the credits that a turn may cost, such as 12.5; none: no limit"],
  ["--max-minutes <number>", "the minutes that a turn may run; none: no limit", numberOrNone],
  ["--max-tool-calls <number>", "the tool calls that a turn may make; none: no limit", numberOrNone],
] as const;

/** The limits that were given. */
export function limitsOf({ maxCredits, maxMinutes, maxToolCalls }: LimitOptions): Partial<Limits> {
  return {
    ...(maxCredits !== undefined && { maxCredits: limitOf(maxCredits) }),
    ...(maxMinutes !== undefined && { maxMinutes: limitOf(maxMinutes) }),
    ...(maxToolCalls !== undefined && { maxToolCalls: limitOf(maxToolCalls) }),
  };
}

/** Commander takes a null for an empty text, so it becomes one here. */
function limitOf<Value extends string | number | object>(given: Value | "none"): Value | null {
  return given === "none" ? null : (given as Value);
}

function numberOrNone(text: string): number | "none" {
  return text === "none" ? text : positiveNumber(text);
}

/** An agent's limits of each turn. */
export function limitsText({ maxCredits, maxMinutes, maxToolCalls }: Limits): string {
  const texts = [
    maxCredits !== null && `${maxCredits} credits`,
    maxMinutes !== null && `${maxMinutes} minutes`,
    maxToolCalls !== null && `${maxToolCalls} tool calls`,
  ];
  return texts.filter(Boolean).join(", ") || "none";
}

/** The kinds that are not always allowed, and the number of rules. */
export function permissionsText({ rules, ...kinds }: Agent["permissions"]): string {
  const limited = Object.entries(kinds).filter(([, decision]) => decision !== "allow");
  const texts = limited.map(([kind, decision]) => `${decision} ${kind}`);
  if (rules.length > 0) texts.push(rules.length === 1 ? "1 rule" : `${rules.length} rules`);
  return texts.join(", ") || "allow everything";
}

/** Parses the form in which clients of MCP write their servers, with or without the key `mcpServers`. */
function parseMcpServers(text: string): McpServers {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new InvalidArgumentError("Not valid JSON.");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new InvalidArgumentError("Expected an object of servers by their names.");
  const { mcpServers } = value as { mcpServers?: unknown };
  return (typeof mcpServers === "object" && mcpServers !== null ? mcpServers : value) as McpServers;
}
