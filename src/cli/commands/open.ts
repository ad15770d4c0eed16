import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { portNumber } from "../port-option.ts";
import { writeJson } from "../terminal.ts";
import { note } from "../verbosity.ts";

interface OpenOptions extends CommonOptions {
  path: string;
  browser: boolean;
}

/** `berth open AGENT PORT` */
export function register(program: Command): void {
  program
    .command("open")
    .description("open a page that an agent serves in a browser")
    .argument("<agent>", "the agent's name")
    .argument("<port>", "the port that its program listens on", portNumber)
    .option("--path <path>", "the page to open", "/")
    .option("--no-browser", "only print the address, which is good once, for 30 seconds")
    .addOption(jsonOption())
    .action(async (name: string, port: number, { path, browser, json }: OpenOptions) => {
      const environment = readEnvironment();
      const url = await connect(environment).agent(name).ports.preview(port, { path });
      if (json) return writeJson(process.stdout, { url });
      if (browser && environment.hasDisplay && (await openInBrowser(url))) return note("Opened in the browser.");
      console.log(url);
    });
}

/** Whether the desktop has taken the address. */
async function openInBrowser(url: string): Promise<boolean> {
  const opener = process.platform === "darwin" ? "open" : "xdg-open";
  const child = spawn(opener, [url], { stdio: "ignore", detached: true });
  try {
    const [code] = (await once(child, "exit")) as [number | null];
    return code === 0;
  } catch {
    return false; // There is no such program.
  }
}
