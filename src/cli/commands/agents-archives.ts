import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { pipeline, Readable } from "node:stream";
import type { Import } from "@berth/client";
import type { ToolCommand } from "../command.ts";
import { agentOf, connect } from "../connect.ts";
import { CliError } from "../errors.ts";
import { type InstallOptions, runInstallation } from "../installation.ts";
import { noWaitOption } from "../options.ts";
import { Progress } from "../progress.ts";
import { copyBody, counted } from "../streams.ts";
import { printable } from "../terminal.ts";
import { note } from "../verbosity.ts";

interface ImportOptions extends InstallOptions {
  name?: string;
  model?: string;
}

/** Adds `berth agents export` and `import`. */
export function addArchiveCommands(agents: ToolCommand): void {
  agents
    .add("export <name>", "write an agent to standard output as one archive: files, settings, history, conversation")
    .option("--disk", "include the machine's complete disk")
    .after("Example: berth agents export ada > ada.berth")
    .action(async (name: string, { disk = false }: { disk?: boolean }) => {
      if (process.stdout.isTTY) {
        const message = `Refusing to write an archive to a terminal. Redirect it: berth agents export ${name} > ${name}.berth`;
        throw new CliError(message, 2);
      }
      await copyBody(await agentOf(name).export({ disk }));
    });
  const about = { file: "the archive; - reads standard input" };
  agents
    .add("import <file>", "create an agent from an archive of berth agents export", about)
    .option("--name <name>", "the new agent's name; default: the name in the archive")
    .option("-m, --model <model>", "its model here (see berth models), or `default` for the runtime's own")
    .addOption(noWaitOption())
    .runs(importAgent);
}

async function importAgent(file: string, options: ImportOptions): Promise<void> {
  const imported = await send(file, options);
  await runInstallation(
    "created",
    async () => imported.agent,
    options,
    (agent) => ({ ...imported, agent }),
  );
  if (!options.json) for (const line of remarks(imported)) note(line);
}

async function send(file: string, { name, model }: ImportOptions): Promise<Import> {
  using progress = new Progress(process.stderr);
  const seen = counted((bytes) => {
    if (process.stderr.isTTY) progress.show(`${file}: ${(bytes / 1_000_000).toFixed(1)} MB`);
  });
  const bytes = pipeline(await opened(file), seen, () => {});
  return await connect().agents.import(Readable.toWeb(bytes) as ReadableStream<Uint8Array>, { name, model });
}

async function opened(file: string): Promise<Readable> {
  if (file === "-") return process.stdin;
  const found = await stat(file).catch(() => null);
  if (!found?.isFile()) throw new CliError(`There is no file ${file} here.`);
  return createReadStream(file, { highWaterMark: 1024 * 1024 });
}

/** Items in the archive that the new agent lacks. */
function remarks({ agent, installed, secrets, agents, hadDisk }: Import): string[] {
  const name = printable(agent.name);
  return [
    ...secrets.map((secret) => {
      const hosts = secret.hosts.map((host) => ` --host ${printable(host)}`).join("");
      const own = printable(secret.name);
      return `It had a secret ${own}. To set it: berth agents secrets set ${name} ${own}${hosts}`;
    }),
    ...notInstalled(installed.apt, `berth exec ${name} -- sudo apt-get install -y`),
    ...notInstalled(installed.npm, `berth exec ${name} -- sudo npm install -g`),
    ...(agents.length > 0 ? [`It could call agents that do not exist here: ${agents.map(printable).join(", ")}`] : []),
    ...(hadDisk ? ["The disk in the archive is not used."] : []),
  ];
}

function notInstalled(packages: { name: string }[], command: string): string[] {
  if (packages.length === 0) return [];
  return [`Not installed again: ${command} ${packages.map(({ name }) => printable(name)).join(" ")}`];
}
