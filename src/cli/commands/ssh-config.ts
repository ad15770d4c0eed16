import { mkdir, readFile, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { readEnvironment } from "../environment.ts";
import { sshConfig } from "../ssh/ssh-config.ts";
import { replace, SshFiles } from "../ssh/ssh-files.ts";
import { note } from "../verbosity.ts";

/** `berth ssh-config` */
export function register(program: Command): void {
  program
    .command("ssh-config")
    .description("let ssh, scp, sftp, rsync, git and editors reach every agent as NAME.berth")
    .option("--print", "only print what would be written")
    .action(async ({ print }: { print?: true }) => {
      const environment = readEnvironment();
      const text = sshConfig(new SshFiles(environment), environment);
      if (print) return void process.stdout.write(text);
      const folder = join(homedir(), ".ssh");
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await replace(join(folder, "berth_config"), text);
      await include(join(folder, "config"), "Include berth_config");
      note("Written to ~/.ssh/berth_config, which ~/.ssh/config includes. Now: ssh NAME.berth, or root@NAME.berth");
    });
}

/** Puts a line at the top of a config, unless it is there: below a `Host` it would be that host's. */
async function include(file: string, line: string): Promise<void> {
  // Replaced where it is, if it is a link to somewhere.
  const path = await realpath(file).catch(() => file);
  const before = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  if (!before.split("\n").includes(line)) await replace(path, `${line}\n${before}`);
}
