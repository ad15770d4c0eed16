import type { AgentFiles, FileEntry } from "@berth/client";
import type { ToolCommand } from "../command.ts";
import { connect } from "../connect.ts";
import { printFile } from "../copy/print-file.ts";
import { jsonOption } from "../options.ts";
import { printable } from "../terminal.ts";
import { note } from "../verbosity.ts";

interface FileOptions {
  root?: true;
  recursive?: true;
}

export function register(program: ToolCommand): void {
  const files = program.command("files").description("list, read and change files in an agent's machine");
  const command = (name: string, description: string) =>
    files
      .command(name)
      .description(description)
      .argument("<name>", "the agent's name")
      .option("--root", "with root's permissions in the machine")
      .addOption(jsonOption());

  command("ls", "list a folder in an agent's machine")
    .argument("[path]", "absolute, or relative to the agent's home folder", ".")
    .option("-r, --recursive", "also list the contents of its folders")
    .lists({
      list: (name: string, path: string, options: FileOptions) => filesOf(name).list(path, scopeOf(options)).take(),
      empty: "The folder is empty.",
      columns: {
        MODE: "mode",
        OWNER: "owner",
        SIZE: "size",
        MODIFIED: ({ modifiedAt }) => modifiedAt.slice(0, 16).replace("T", " "),
        NAME: (entry) => ({ text: nameOf(entry), style: entry.type === "folder" ? "blue" : "reset" }),
      },
    });
  command("cat", "print a file")
    .argument("<path>", "the file's path")
    .action((name: string, path: string, { root }: FileOptions) =>
      printFile(filesOf(name), path, { user: userOf(root) }),
    );
  addChanges(command);
  command("watch", "print changes in a folder until Ctrl-C or until the machine stops")
    .argument("[path]", "absolute, or relative to the agent's home folder", ".")
    .option("-r, --recursive", "include its subfolders")
    .streams(
      (name: string, path: string, options: FileOptions) => filesOf(name).watch(path, scopeOf(options)),
      (event) => {
        if (event.type === "watching") return note(`Watching ${printable(event.path)}`);
        const from = event.from === null ? "" : `${printable(event.from)} -> `;
        console.log(`${event.type} ${from}${printable(event.path)}`);
      },
    );
}

/** Adds the commands that change files. */
function addChanges(command: (name: string, description: string) => ToolCommand): void {
  command("mkdir", "make a folder and its parents")
    .argument("<path>", "the folder's path")
    .prints(
      (name: string, path: string, { root }: FileOptions) => filesOf(name).mkdir(path, { user: userOf(root) }),
      (entry) => printable(entry.path),
    );
  command("mv", "move or rename a file or folder")
    .argument("<path>", "the source")
    .argument("<to>", "the new path, which must not exist")
    .prints(
      (name: string, path: string, to: string, { root }: FileOptions) =>
        filesOf(name).move(path, to, { user: userOf(root) }),
      (entry) => printable(entry.path),
    );
  command("rm", "remove a file or an empty folder")
    .argument("<path>", "the path")
    .option("-r, --recursive", "a folder with its contents")
    .prints(
      (name: string, path: string, options: FileOptions) => filesOf(name).remove(path, scopeOf(options)),
      () => {},
    );
}

function filesOf(name: string): AgentFiles {
  return connect().agent(name).files;
}

function userOf(root: true | undefined): "agent" | "root" {
  return root ? "root" : "agent";
}

function scopeOf({ root, recursive = false }: { root?: true; recursive?: boolean }) {
  return { user: userOf(root), recursive };
}

function nameOf({ path, type, target }: FileEntry): string {
  if (type === "folder") return `${path}/`;
  return target === null ? path : `${path} -> ${target}`;
}
