import { Duplex } from "node:stream";
import { type Command, Option } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { joinConnection } from "../port-connection.ts";
import { hostSuffix, SshFiles } from "../ssh/ssh-files.ts";

/** `berth ssh-prepare` and `berth ssh-proxy`, which ssh calls: see `berth ssh-config`. */
export function register(program: Command): void {
  program
    .command("ssh-prepare", { hidden: true })
    .description("get a certificate for an agent, before ssh reads it")
    .argument("<host>", "the agent's host, NAME.berth", agentOf)
    .addOption(new Option("--user <user>").choices(["agent", "root"]).default("agent"))
    .action(async (name: string, { user }: { user: "agent" | "root" }) => {
      const environment = readEnvironment();
      await new SshFiles(environment).prepare(connect(environment).agent(name), user);
    });
  program
    .command("ssh-proxy", { hidden: true })
    .description("join standard input and output with an agent's SSH server")
    .argument("<host>", "the agent's host, NAME.berth", agentOf)
    .action(async (name: string) => {
      const url = await connect(readEnvironment()).agent(name).ssh.connectionUrl();
      await joinConnection(url, Duplex.from({ readable: process.stdin, writable: process.stdout }));
      process.exit(0);
    });
}

function agentOf(host: string): string {
  return host.endsWith(hostSuffix) ? host.slice(0, -hostSuffix.length) : host;
}
