import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { Duplex } from "node:stream";
import type { AgentHandle } from "@berth/client";
import { Option } from "commander";
import type { ToolCommand } from "../command.ts";
import { agentOf, connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { CliError, signalCode } from "../errors.ts";
import { repeatable, userOption } from "../options.ts";
import { joinConnection } from "../port-connection.ts";
import { replaceFile } from "../private-files.ts";
import { sshConfig } from "../ssh/ssh-config.ts";
import { hostSuffix, noSsh, SshFiles } from "../ssh/ssh-files.ts";
import { note } from "../verbosity.ts";

interface SshOptions {
  user: "agent" | "root";
  option?: string[];
}

/** `berth ssh`, `ssh-config`, and `ssh-prepare` and `ssh-proxy`, which ssh calls by the config. */
export function register(program: ToolCommand): void {
  const optionHelp = "an option of ssh, such as -o ForwardAgent=yes; can be given several times";
  program
    .add("ssh <agent> [command...]", "open a shell in an agent's machine, or run a command there, by OpenSSH", {
      command: "such as -- ls -l; ssh gives it to the shell there as one line",
    })
    .addOption(userOption("the user to log in as"))
    .addOption(repeatable("-o, --option <option>", optionHelp))
    .action(openShell);
  program
    .add("ssh-config", "let ssh, scp, sftp, rsync, git and editors connect to every agent as NAME.berth")
    .option("--print", "only print the files that would be written")
    .action(writeConfig);
  program
    .command("ssh-prepare", { hidden: true })
    .description("get a certificate for an agent, before ssh reads it")
    .argument("<host>", "the agent's host, NAME.berth or NAME.WORKSPACE.berth")
    .addOption(new Option("--user <user>").choices(["agent", "root"]).default("agent"))
    .action(async (host: string, { user }: SshOptions) => {
      await new SshFiles(readEnvironment()).prepare(host, agentAt(host), user);
    });
  program
    .command("ssh-proxy", { hidden: true })
    .description("connect standard input and output with an agent's SSH server")
    .argument("<host>", "the agent's host, NAME.berth or NAME.WORKSPACE.berth")
    .action(async (host: string) => {
      const url = await agentAt(host).ssh.connectionUrl();
      await joinConnection(url, Duplex.from({ readable: process.stdin, writable: process.stdout }));
      process.exit(0);
    });
}

async function openShell(name: string, words: string[], { user, option = [] }: SshOptions): Promise<void> {
  const environment = readEnvironment();
  const files = new SshFiles(environment);
  // Done here too, so that the tool reports a refusal itself.
  const host = name + hostSuffix;
  await files.prepare(host, agentOf(name), user);
  const config = join(files.folder, "config");
  await replaceFile(config, sshConfig(files, environment));
  const options = option.flatMap((each) => ["-o", each]);
  const command = words.length > 0 ? ["--", ...words] : [];
  process.exitCode = await ssh(["-F", config, ...options, `${user}@${host}`, ...command]);
}

async function ssh(args: string[]): Promise<number> {
  process.on("SIGINT", () => {}); // Ctrl-C is ssh's.
  const child = spawn("ssh", args, { stdio: "inherit" });
  try {
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    return code ?? signalCode(signal);
  } catch {
    throw noSsh();
  }
}

async function writeConfig({ print }: { print?: true }): Promise<void> {
  const environment = readEnvironment();
  const text = sshConfig(new SshFiles(environment), environment);
  if (print) return void process.stdout.write(text);
  const folder = join(homedir(), ".ssh");
  await replaceFile(join(folder, "berth_config"), text);
  await include(join(folder, "config"), "Include berth_config");
  note("Written to ~/.ssh/berth_config, which ~/.ssh/config includes. Now: ssh NAME.berth, or root@NAME.berth");
}

/** Puts a line at the top of a config, unless it is there: below a `Host` it would be that host's. */
async function include(file: string, line: string): Promise<void> {
  const path = await realpath(file).catch(() => file); // A link stays a link.
  const before = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  if (!before.split("\n").includes(line)) await replaceFile(path, `${line}\n${before}`);
}

/** The agent of a host such as `ada.berth`, or `ada.ops.berth` in the workspace ops. Hosts are names of files, too. */
function agentAt(host: string): AgentHandle {
  if (host.includes("/")) throw new CliError("A host has no slashes. Choose the workspace by its id.", 2);
  const text = host.endsWith(hostSuffix) ? host.slice(0, -hostSuffix.length) : host;
  const [name = "", ...rest] = text.split(".");
  if (rest.length === 0) return agentOf(name);
  return connect({ ...readEnvironment(), workspace: rest.join(".") }).agent(name);
}
