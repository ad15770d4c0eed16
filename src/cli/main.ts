import * as module from "node:module";
import { fileURLToPath } from "node:url";

// The tool's entry point. Compiled code is cached in the checkout, which halves the startup time. Everything else is
// imported after that.
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
