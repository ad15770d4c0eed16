import { type Command, Option } from "commander";
import { attachTerminal, exitCodeOf } from "../attached-terminal.ts";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";

interface TerminalCommandOptions {
  session?: string;
  user: "agent" | "root";
}

/** `berth terminal AGENT` */
export function register(program: Command): void {
  program
    .command("terminal")
    .description("open a terminal in an agent's machine")
    .argument("<agent>", "the agent's name")
    .option("--session <id>", "join a session: the id of a command on a terminal, see berth commands list")
    .addOption(new Option("-u, --user <user>", "the user of a new session").choices(["agent", "root"]).default("agent"))
    .action(async (name: string, { session, user }: TerminalCommandOptions) => {
      const agent = connect(readEnvironment()).agent(name);
      const joined = session === undefined ? { user } : { session };
      process.exitCode = exitCodeOf(await attachTerminal(agent, joined));
    });
}
