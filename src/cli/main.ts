import { readFileSync } from "node:fs";
import * as module from "node:module";
import { fileURLToPath } from "node:url";
import { readVersion } from "./checkout.ts";
import { type CommandTree, completionsOf, treeOf } from "./completion.ts";

// The tool's entry point. The version and completion, for which shells and scripts wait, load nothing else.
const args = process.argv.slice(2);
if (args.length === 1 && ["-V", "--version"].includes(args[0]!)) console.log(readVersion());
else if (args[0] === "complete") await complete(args.slice(args[1] === "--" ? 2 : 1));
else await run();

/** Completes for a shell; see `berth completion`. */
async function complete(words: readonly string[]): Promise<void> {
  for (const each of await completionsOf(builtTree() ?? (await ownTree()), words)) console.log(each);
}

/** The commands of the built tool; null where it runs from its source. */
function builtTree(): CommandTree | null {
  try {
    return JSON.parse(readFileSync(new URL("commands.json", import.meta.url), "utf8")) as CommandTree;
  } catch {
    return null;
  }
}

async function ownTree(): Promise<CommandTree> {
  const { createProgram } = await import("./program.ts");
  return treeOf(await createProgram([]));
}

async function run(): Promise<void> {
  // Compiled code is cached in the checkout, which halves the time to load the rest.
  module.enableCompileCache?.(fileURLToPath(new URL("../../node_modules/.cache/berth", import.meta.url)));
  const { reportError } = await import("./report.ts");
  const { runCommand } = await import("./program.ts");
  // A reader that has closed the pipe, such as `head`.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // A command that has more to end than this program listens for the signal, which Node itself ignores.
    if (error.code === "EPIPE") return process.emit("SIGPIPE") || process.exit(0);
    void reportError(error, false).then((code) => process.exit(code));
  });
  process.exitCode = (await runCommand()) ?? process.exitCode;
}
