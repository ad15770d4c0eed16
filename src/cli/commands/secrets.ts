import type { WorkspaceSecret } from "@berth/client";
import { Option } from "commander";
import type { ToolCommand } from "../command.ts";
import { connect } from "../connect.ts";
import { CliError } from "../errors.ts";
import { repeatable } from "../options.ts";
import { readSecret } from "../prompt.ts";
import { printable } from "../terminal.ts";
import { localTime } from "../time.ts";
import { note } from "../verbosity.ts";

const about = { secret: "the secret's name, such as GITHUB_TOKEN" };

const setHelp = `
The value is asked for, or read from standard input; it is on no command line. Each agent that can use the secret has a
placeholder in the variable with this name. Where a program sends it in the Authorization header (or the one given) to one of
the hosts, the value goes in its place. Hosts, headers and agents that are not given stay as they are.

Examples:
  berth secrets set GITHUB_TOKEN --host api.github.com --host github.com
  berth secrets set NPM_TOKEN --host registry.npmjs.org --agent ada --agent bob < token.txt
  berth secrets set GITHUB_TOKEN < new-token.txt
  berth secrets set GITHUB_TOKEN --keep-value --agent ada`;

interface SetOptions {
  host?: string[];
  header?: string[];
  agent?: string[];
  allAgents?: true;
  /** False with `--no-agents`. */
  agents: boolean;
  keepValue?: true;
}

export function register(program: ToolCommand): void {
  const secrets = program.add("secrets", "manage secrets that several agents of a workspace can use but not read");
  secrets.add("list", "list the workspace's secrets without their values").lists({
    list: () => connect().secrets.list(),
    empty: "The workspace has no secrets. To set one: berth secrets set NAME --host HOST",
    columns: {
      NAME: "name",
      ENDS: ({ lastFour }: WorkspaceSecret) => (lastFour === null ? "" : printable(lastFour)),
      HOSTS: ({ hosts }) => hosts.join(", "),
      "SIGN-IN": ({ login }) => login?.status ?? "",
      AGENTS: ({ agents }) => agentsText(agents),
    },
  });
  secrets
    .add("get <secret>", "show a secret of the workspace without its value", about)
    .prints((secret: string) => connect().secrets.get(secret), secretText);
  secrets
    .add("set <secret>", "set a secret that agents of the workspace can use but not read", about)
    .addOption(repeatable("--host <host>", "where it may be sent: a host, or *.example.com; can be repeated"))
    .addOption(repeatable("--header <header>", "the request header that carries it; can be repeated"))
    .addOption(repeatable("--agent <name>", "an agent that can use it; can be repeated (default: all)"))
    .addOption(new Option("--all-agents", "all agents can use it, also later ones").conflicts("agent"))
    .addOption(new Option("--no-agents", "no agent can use it").conflicts(["agent", "allAgents"]))
    .option("--keep-value", "change who can use it, or remove hosts or headers, without the value")
    .addHelpText("after", setHelp)
    .prints(set, secretText);
  secrets
    .add("delete <secret>", "delete a secret of the workspace", about)
    .confirms(
      (secret: string) => `Delete ${printable(secret)}? Requests of agents that use it fail from then on.`,
      "Nothing was deleted.",
    )
    .prints(
      (secret: string) => connect().secrets.delete(secret),
      (_, secret) => note(`Deleted ${printable(secret)}.`),
    );
}

async function set(secret: string, options: SetOptions): Promise<WorkspaceSecret> {
  const { host: hosts, header: headers, keepValue } = options;
  const asked = { hosts, headers, agents: agentsOf(options) };
  if (keepValue) return connect().secrets.set(secret, asked);
  const value = (await readSecret(`Value of ${secret}: `)).trim();
  if (value === "") throw new CliError("The value is empty; nothing was set. To keep it: --keep-value.", 2);
  return connect().secrets.set(secret, { value, ...asked });
}

/** Undefined: they stay. */
function agentsOf({ agent, allAgents, agents }: SetOptions): string[] | null | undefined {
  if (allAgents) return null;
  return agents ? agent : [];
}

function agentsText(agents: readonly string[] | null): string {
  if (agents === null) return "all";
  return agents.length === 0 ? "none" : agents.join(", ");
}

export function secretText({ name, hosts, headers, agents, lastFour, login, updatedAt }: WorkspaceSecret): string {
  if (login) return loginText(name, agents, login);
  const end = lastFour === null ? "" : `, and ends with ${printable(lastFour)}`;
  return [
    `${name} was set ${localTime(updatedAt)}${end}.`,
    `Hosts: ${hosts.length === 0 ? "none" : hosts.join(", ")}`,
    `Headers: ${headers.join(", ")}`,
    `Agents: ${agentsText(agents)}`,
  ].join("\n");
}

function loginText(name: string, agents: WorkspaceSecret["agents"], login: NonNullable<WorkspaceSecret["login"]>) {
  const { url, status, reason, scopes, expiresAt } = login;
  return [
    `${name} is the sign-in to ${printable(url)}: ${status}.`,
    ...(reason === null ? [] : [printable(reason)]),
    ...(scopes.length === 0 ? [] : [`Allowed: ${printable(scopes.join(" "))}`]),
    ...(expiresAt === null ? [] : [`The token expires ${localTime(expiresAt)}, and is refreshed before if possible.`]),
    `Agents: ${agentsText(agents)}`,
  ].join("\n");
}
