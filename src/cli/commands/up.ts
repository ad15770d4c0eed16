import type { Command } from "commander";
import { programPath } from "../checkout.ts";
import { announcement, type DetachedServer, logFileOf, startDetached, untilReady } from "../detached-server.ts";
import { readEnvironment } from "../environment.ts";
import { CliError } from "../errors.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { Progress } from "../progress.ts";
import { findServer, serverProgram } from "../server-process.ts";
import { writeJson, writeText } from "../terminal.ts";

interface UpOptions extends CommonOptions {
  detach?: true;
}

/** `berth up` */
export function register(program: Command): void {
  program
    .command("up")
    .description("start the server in the foreground")
    .option("-d, --detach", "start it in the background, and return when it is ready")
    .addOption(jsonOption())
    .action(async ({ detach, json }: UpOptions) => {
      if (!detach) return becomeServer();
      const server = await bringUp();
      const { url, pid } = server;
      if (json) return writeJson(process.stdout, { url, pid });
      writeText(process.stdout, (await announcement(server)) || `Berth is ready at ${url}\n`);
    });
}

/**
 * Replaces this process with the server, which inherits its terminal, signals and exit code. A child would get Ctrl-C
 * twice: from the terminal and from its parent.
 */
function becomeServer(): never {
  return process.execve!(process.execPath, [process.execPath, programPath(serverProgram)]);
}

/** Starts a server in the background, or finds the running one. Resolves when it is ready. */
async function bringUp(): Promise<DetachedServer> {
  const { dataFolder, localUrl: url } = readEnvironment();
  if (url === null) throw new CliError("BERTH_PORT is 0. A server in the background needs a fixed port.", 2);
  const pid = await findServer(dataFolder);
  const server = pid === null ? await startDetached(dataFolder, url) : found(pid, url, dataFolder);
  using progress = new Progress(process.stderr);
  await untilReady(server, progress);
  return server;
}

function found(pid: number, url: string, dataFolder: string) {
  console.error(`Berth is running already (process ${pid}).`);
  return { pid, url, logFile: logFileOf(dataFolder), logStart: null };
}
