import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { join } from "node:path";
import { type Command, Option } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { sshConfig } from "../ssh/ssh-config.ts";
import { hostSuffix, noSsh, replace, SshFiles } from "../ssh/ssh-files.ts";

/** What a shell answers for a program that a signal has ended, less the signal's number. */
const signalled = 128;

/** `berth ssh AGENT [COMMAND…]` */
export function register(program: Command): void {
  program
    .command("ssh")
    .description("open a shell in an agent's machine, or run a command there, by OpenSSH")
    .argument("<agent>", "the agent's name")
    .argument("[command...]", "such as -- ls -l; ssh gives it to the shell there as one line")
    .addOption(new Option("-u, --user <user>", "the user to be there").choices(["agent", "root"]).default("agent"))
    .option(
      "-o, --option <option>",
      "an option of ssh, such as -o ForwardAgent=yes; can be given several times",
      collect,
    )
    .action(
      async (name: string, words: string[], { user, option = [] }: { user: "agent" | "root"; option?: string[] }) => {
        const environment = readEnvironment();
        const files = new SshFiles(environment);
        // Once here, so that a refusal is told as the tool tells it.
        await files.prepare(connect(environment).agent(name), user);
        const config = join(files.folder, "config");
        await replace(config, sshConfig(files, environment));
        const options = option.flatMap((each) => ["-o", each]);
        const args = [
          "-F",
          config,
          ...options,
          `${user}@${name}${hostSuffix}`,
          ...(words.length > 0 ? ["--", ...words] : []),
        ];
        process.exitCode = await ssh(args);
      },
    );
}

async function ssh(args: string[]): Promise<number> {
  // Ctrl-C is ssh's.
  process.on("SIGINT", () => {});
  const child = spawn("ssh", args, { stdio: "inherit" });
  try {
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    return code ?? signalled + constants.signals[signal!];
  } catch {
    throw noSsh();
  }
}

function collect(option: string, before: string[] = []): string[] {
  return [...before, option];
}
