import { type AgentFiles, authorText, type FileEntry } from "@berth/client";
import type { ToolCommand } from "../command.ts";
import { agentOf } from "../connect.ts";
import { download, printFile } from "../copy/download.ts";
import { upload } from "../copy/upload.ts";
import { CliError } from "../errors.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { Progress } from "../progress.ts";
import { printable, writeJson } from "../terminal.ts";
import { note } from "../verbosity.ts";

interface FileOptions {
  root?: true;
  recursive?: true;
}

const folder = "absolute, or relative to the agent's home folder";

/** `berth files` and `cp` */
export function register(program: ToolCommand): void {
  const files = program.add("files", "list, read and change files in an agent's machine");
  const command = (verb: string, description: string) =>
    files
      .add(`${verb} <name>`, description)
      .option("--root", "with root's permissions in the machine")
      .addOption(jsonOption());

  command("ls", "list a folder in an agent's machine")
    .argument("[path]", folder, ".")
    .option("-r, --recursive", "also list the contents of its folders")
    .lists({
      list: (name: string, path: string, options: FileOptions) => filesOf(name).list(path, scopeOf(options)).take(),
      empty: "The folder is empty.",
      columns: {
        MODE: "mode",
        OWNER: "owner",
        SIZE: "size",
        MODIFIED: ({ modifiedAt }) => modifiedAt.slice(0, 16).replace("T", " "),
        BY: ({ createdBy }) => (createdBy ? printable(authorText(createdBy)) : ""),
        NAME: (entry) => ({ text: nameOf(entry), style: entry.type === "folder" ? "blue" : "reset" }),
      },
    });
  command("cat", "print a file")
    .argument("<path>", "the file's path")
    .action((name: string, path: string, options: FileOptions) => printFile(filesOf(name), path, userOf(options)));
  command("mkdir", "make a folder and its parents")
    .argument("<path>", "the folder's path")
    .prints((name: string, path: string, options: FileOptions) => filesOf(name).mkdir(path, userOf(options)), pathOf);
  command("mv", "move or rename a file or folder")
    .argument("<path>", "the source")
    .argument("<to>", "the new path, which must not exist")
    .prints(
      (name: string, path: string, to: string, options: FileOptions) => filesOf(name).move(path, to, userOf(options)),
      pathOf,
    );
  command("rm", "remove a file or an empty folder")
    .argument("<path>", "the path")
    .option("-r, --recursive", "a folder with its contents")
    .prints(
      (name: string, path: string, options: FileOptions) => filesOf(name).remove(path, scopeOf(options)),
      () => {},
    );
  command("watch", "print changes in a folder until Ctrl-C or until the machine stops")
    .argument("[path]", folder, ".")
    .option("-r, --recursive", "include its subfolders")
    .streams(
      (name: string, path: string, options: FileOptions) => filesOf(name).watch(path, scopeOf(options)),
      (event) => {
        if (event.type === "watching") return note(`Watching ${printable(event.path)}`);
        const from = event.from === null ? "" : `${printable(event.from)} -> `;
        console.log(`${event.type} ${from}${printable(event.path)}`);
      },
    );
  addCopy(program);
}

/** Adds `berth cp`. */
function addCopy(program: ToolCommand): void {
  program
    .add("cp <source> <target>", "copy files and folders to and from an agent's machine", {
      source: "AGENT:PATH, or a path here; - reads standard input",
      target: "AGENT:PATH, or a path here; - writes to standard output",
    })
    .option("--root", "with root's permissions in the machine")
    .after("A path in a machine is absolute, or relative to the agent's home folder. ./a:b is a local path.")
    .runs(copy);
}

function filesOf(name: string): AgentFiles {
  return agentOf(name).files;
}

function userOf({ root }: FileOptions): { user: "agent" | "root" } {
  return { user: root ? "root" : "agent" };
}

function scopeOf(options: FileOptions) {
  return { ...userOf(options), recursive: options.recursive ?? false };
}

function pathOf({ path }: FileEntry): string {
  return printable(path);
}

function nameOf({ path, type, target }: FileEntry): string {
  if (type === "folder") return `${path}/`;
  return target === null ? path : `${path} -> ${target}`;
}

async function copy(source: string, target: string, options: CommonOptions & FileOptions): Promise<void> {
  const [from, to] = [endOf(source), endOf(target)];
  if ((from.agent === null) === (to.agent === null)) {
    throw new CliError(
      "One path must have the form AGENT:PATH, and the other must be local: ./a:b if it contains a colon.",
      2,
    );
  }
  const files = filesOf((from.agent ?? to.agent)!);
  const { user } = userOf(options);
  let copied: { path: string; size: number };
  {
    using progress = new Progress(process.stderr);
    const seen = (bytes: number) => {
      if (process.stderr.isTTY) progress.show(`${source} → ${target}: ${megabytes(bytes)}`);
    };
    const move = from.agent === null ? upload : download;
    copied = await move(files, from.path, to.path, user, seen);
  }
  if (to.agent === null && to.path === "-") return;
  if (options.json) writeJson(process.stdout, copied);
  else note(`${printable(copied.path)} (${megabytes(copied.size)})`);
}

/** `AGENT:PATH`, or a path here: anything with a slash before the colon. */
function endOf(text: string): { agent: string | null; path: string } {
  const named = /^([a-z][a-z0-9-]*):(.*)$/s.exec(text);
  return named ? { agent: named[1]!, path: named[2] || "." } : { agent: null, path: text };
}

function megabytes(bytes: number): string {
  return bytes < 100_000 ? `${bytes} bytes` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
