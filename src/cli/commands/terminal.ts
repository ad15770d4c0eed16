import { attachTerminal, exitCodeOf } from "../attached-terminal.ts";
import type { ToolCommand } from "../command.ts";
import { connect } from "../connect.ts";
import { userOption } from "../options.ts";

interface TerminalCommandOptions {
  session?: string;
  user: "agent" | "root";
}

export function register(program: ToolCommand): void {
  program
    .command("terminal")
    .description("open a terminal in an agent's machine")
    .argument("<agent>", "the agent's name")
    .option("--session <id>", "join a session: the id of a command on a terminal, see berth commands list")
    .addOption(userOption("the user of a new session"))
    .action(async (name: string, { session, user }: TerminalCommandOptions) => {
      const agent = connect().agent(name);
      const joined = session === undefined ? { user } : { session };
      process.exitCode = exitCodeOf(await attachTerminal(agent, joined));
    });
}
