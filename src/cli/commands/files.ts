import type { AgentFiles, FileEntry } from "@berth/client";
import { type Command, Option } from "commander";
import { connect } from "../connect.ts";
import { printFile } from "../copy/print-file.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { formatTable } from "../table.ts";
import { printable, writeJson } from "../terminal.ts";
import { note } from "../verbosity.ts";

interface FileOptions extends CommonOptions {
  root?: true;
  recursive?: true;
}

/** `berth files …` */
export function register(files: Command): void {
  const command = (name: string, description: string) =>
    files
      .command(name)
      .description(description)
      .argument("<name>", "the agent's name")
      .addOption(rootOption())
      .addOption(jsonOption());

  command("ls", "list a folder in an agent's machine")
    .argument("[path]", "absolute, or from the agent's home folder", ".")
    .option("-r, --recursive", "also what is in its folders")
    .action(list);
  command("cat", "print a file")
    .argument("<path>", "the file's path")
    .action(async (name: string, path: string, options: FileOptions) => {
      await printFile(filesOf(name), path, userOf(options));
    });
  command("mkdir", "make a folder, and those above it")
    .argument("<path>", "the folder's path")
    .action(async (name: string, path: string, options: FileOptions) => {
      tell(await filesOf(name).mkdir(path, userOf(options)), options);
    });
  command("mv", "move or rename a file or folder")
    .argument("<path>", "what to move")
    .argument("<to>", "where to; nothing may be there")
    .action(async (name: string, path: string, to: string, options: FileOptions) => {
      tell(await filesOf(name).move(path, to, userOf(options)), options);
    });
  command("rm", "remove a file or an empty folder")
    .argument("<path>", "what to remove")
    .option("-r, --recursive", "a folder with everything in it")
    .action(async (name: string, path: string, options: FileOptions) => {
      await filesOf(name).remove(path, { ...userOf(options), recursive: options.recursive === true });
      if (options.json) writeJson(process.stdout, null);
    });
  command("watch", "print changes in a folder until Ctrl-C or the machine ends")
    .argument("[path]", "absolute, or from the agent's home folder", ".")
    .option("-r, --recursive", "also in its folders")
    .action(watch);
}

function rootOption(): Option {
  return new Option("--root", "with root's rights in the machine");
}

function filesOf(name: string): AgentFiles {
  return connect(readEnvironment()).agent(name).files;
}

function userOf({ root }: FileOptions): { user: "agent" | "root" } {
  return { user: root ? "root" : "agent" };
}

async function list(name: string, path: string, options: FileOptions): Promise<void> {
  const page = await filesOf(name)
    .list(path, { ...userOf(options), recursive: options.recursive === true })
    .take();
  if (options.json) return writeJson(process.stdout, page);
  if (page.data.length === 0) return note("The folder is empty.");
  const rows = page.data.map((entry) => [
    entry.mode,
    entry.owner,
    String(entry.size),
    entry.modifiedAt.slice(0, 16).replace("T", " "),
    { text: nameOf(entry), style: entry.type === "folder" ? ("blue" as const) : ("reset" as const) },
  ]);
  process.stdout.write(formatTable(process.stdout, ["MODE", "OWNER", "SIZE", "MODIFIED", "NAME"], rows));
}

function nameOf({ path, type, target }: FileEntry): string {
  if (type === "folder") return `${path}/`;
  return target === null ? path : `${path} -> ${target}`;
}

function tell(entry: FileEntry, { json }: FileOptions): void {
  if (json) writeJson(process.stdout, entry);
  else console.log(printable(entry.path));
}

async function watch(name: string, path: string, options: FileOptions): Promise<void> {
  const events = filesOf(name).watch(path, { ...userOf(options), recursive: options.recursive === true });
  for await (const event of events) {
    if (options.json) writeJson(process.stdout, event);
    else if (event.type === "watching") note(`Watching ${printable(event.path)}`);
    else
      console.log(`${event.type} ${event.from === null ? "" : `${printable(event.from)} -> `}${printable(event.path)}`);
  }
}
