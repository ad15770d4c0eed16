import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { hasEnded } from "../../core/process-table.ts";
import { programPath } from "../checkout.ts";
import { readEnvironment } from "../environment.ts";
import { CliError } from "../errors.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { Progress } from "../progress.ts";
import { findServer, serverProgram } from "../server-process.ts";
import { writeJson } from "../terminal.ts";

/** The server itself takes at most 5 s. */
const patienceSeconds = 30;
const pollMs = 50;

/** `berth down` */
export function register(program: Command): void {
  program
    .command("down")
    .description("stop the server; machines and running turns continue")
    .addOption(jsonOption())
    .action(async ({ json }: CommonOptions) => {
      const pid = await findServer(readEnvironment().dataFolder);
      if (pid === null)
        programPath(serverProgram); // Says so where the service is not here at all.
      else await stop(pid);
      if (json) writeJson(process.stdout, { pid });
      else console.log(pid === null ? "Berth is not running." : `Berth has stopped (process ${pid}).`);
    });
}

async function stop(pid: number): Promise<void> {
  using progress = new Progress(process.stderr);
  if (process.stderr.isTTY) progress.show(`stopping the server (process ${pid})`);
  try {
    process.kill(pid, "SIGTERM");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EPERM") throw new CliError(`The server (process ${pid}) is another user's: run this as that user.`);
    if (code !== "ESRCH") throw error;
  }
  while (!hasEnded(pid)) {
    if (progress.seconds > patienceSeconds) throw new CliError(`The server (process ${pid}) does not stop.`);
    await sleep(pollMs);
  }
}
