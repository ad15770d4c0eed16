import type { ToolCommand } from "../command.ts";
import { connect } from "../connect.ts";
import { download } from "../copy/download.ts";
import { endOf } from "../copy/ends.ts";
import { upload } from "../copy/upload.ts";
import { CliError } from "../errors.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { Progress } from "../progress.ts";
import { printable, writeJson } from "../terminal.ts";
import { note } from "../verbosity.ts";

export function register(program: ToolCommand): void {
  program
    .command("cp")
    .description("copy files and folders to and from an agent's machine")
    .argument("<source>", "AGENT:PATH, or a path here; - reads standard input")
    .argument("<target>", "AGENT:PATH, or a path here; - writes to standard output")
    .option("--root", "with root's permissions in the machine")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      "\nA path in a machine is absolute, or relative to the agent's home folder. ./a:b is a local path.",
    )
    .action(copy);
}

async function copy(source: string, target: string, { root, json }: CommonOptions & { root?: true }): Promise<void> {
  const [from, to] = [endOf(source), endOf(target)];
  if ((from.agent === null) === (to.agent === null)) {
    throw new CliError(
      "One path must have the form AGENT:PATH, and the other must be local: ./a:b if it contains a colon.",
      2,
    );
  }
  const files = connect().agent((from.agent ?? to.agent)!).files;
  const user = root ? "root" : "agent";
  let copied: { path: string; size: number };
  {
    using progress = new Progress(process.stderr);
    const seen = (bytes: number) => {
      if (process.stderr.isTTY) progress.show(`${source} → ${target}: ${megabytes(bytes)}`);
    };
    copied = await (from.agent === null
      ? upload(files, from.path, to.path, user, seen)
      : download(files, from.path, to.path, user, seen));
  }
  if (to.agent === null && to.path === "-") return;
  if (json) writeJson(process.stdout, copied);
  else note(`${printable(copied.path)} (${megabytes(copied.size)})`);
}

function megabytes(bytes: number): string {
  return bytes < 100_000 ? `${bytes} bytes` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
