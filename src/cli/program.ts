import { CommanderError } from "commander";
import { readVersion } from "./checkout.ts";
import { ToolCommand } from "./command.ts";
import { commandFiles } from "./commands.ts";
import { addGlobalOptions, type CommonOptions, type GlobalOptions } from "./options.ts";
import { reportError } from "./report.ts";
import { setVerbosity } from "./verbosity.ts";

const footer = `
Environment:
  BERTH_PROFILE            the service to use, by its name in berth profiles
  BERTH_WORKSPACE          the workspace to act in, by its name or id
  BERTH_URL                where the server is (else BERTH_HOST and BERTH_PORT: http://127.0.0.1:7420)
  BERTH_API_KEY            the key (else the login of berth login, else the operator's key in the data folder)
  BERTH_DATA_DIR           the server's data folder

Exit codes: 0 done, 1 the service refused or failed, 2 wrong use, 130 interrupted.

Examples:
  berth up --detach
  berth agents create ada
  berth chat ada "What can you do?"
  berth agents update ada --instructions - < instructions.md
  berth agents turns ada
  berth agents logs ada --follow
  berth agents network log ada
  berth agents secrets set ada GITHUB_TOKEN --host api.github.com
  berth keys create --name "my website" --agent ada --expires 90d
  berth api GET /agents`;

/** The tool with the command that these arguments call, or with all of its commands. */
export async function createProgram(args: readonly string[]): Promise<ToolCommand> {
  const program = new ToolCommand("berth")
    .description("Run agents on your own machine, each in its own virtual machine.")
    .version(readVersion(), "-V, --version", "show the version")
    .exitOverride()
    .showHelpAfterError("Run with --help for usage.")
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, "berth: ")) })
    .addHelpText("after", footer);
  for (const { register } of await Promise.all(commandFiles(args).map((load) => load()))) register(program);
  addGlobalOptions(program);
  return program;
}

/** Runs the command in `process.argv` and returns the exit code, unless the command has set one. */
export async function runCommand(): Promise<number | undefined> {
  let json = false;
  try {
    const args = process.argv.slice(2);
    const program = await createProgram(args);
    program.hook("preAction", (_, command) => {
      const {
        json: isJson,
        profile,
        workspace,
        quiet,
        verbose,
      } = command.optsWithGlobals<CommonOptions & GlobalOptions>();
      json = isJson ?? false;
      if (profile !== undefined) process.env.BERTH_PROFILE = profile;
      if (workspace !== undefined) process.env.BERTH_WORKSPACE = workspace;
      if (quiet || verbose) setVerbosity(quiet ? "quiet" : "verbose");
    });
    await program.parseAsync();
    return;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    return await reportError(error, json);
  }
}
