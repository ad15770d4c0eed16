import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer, type Server, type Socket } from "node:net";
import type { AgentHandle } from "@berth/client";
import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { CliError } from "../errors.ts";
import { Interrupts } from "../interrupts.ts";
import { joinConnection } from "../port-connection.ts";
import { type Forwarding, forwarding } from "../port-option.ts";
import { printable } from "../terminal.ts";

/** `berth port-forward AGENT [LOCAL:]REMOTE…` */
export function register(program: Command): void {
  program
    .command("port-forward")
    .description("make ports of an agent's machine ports of this one, until Ctrl-C")
    .argument("<agent>", "the agent's name")
    .argument("<ports...>", "each as REMOTE or LOCAL:REMOTE; a local port of 0 is any free one", forwarding)
    .action(async (name: string, ports: Forwarding[]) => {
      const agent = connect(readEnvironment()).agent(name);
      await agent.get();
      using interrupts = new Interrupts();
      const servers: Server[] = [];
      try {
        for (const each of ports) servers.push(await forwardPort(agent, each));
        await once(interrupts.cancel, "abort");
      } finally {
        for (const server of servers) server.close();
      }
      // Connections that are open end with this program.
      process.exit(0);
    });
}

async function forwardPort(agent: AgentHandle, { local, remote }: Forwarding): Promise<Server> {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => void relay(agent, remote, socket));
  server.listen(local, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (error) {
    throw new CliError(`Port ${local} of this machine cannot be used: ${(error as Error).message}`);
  }
  const { port } = server.address() as AddressInfo;
  console.log(`127.0.0.1:${port} is port ${remote} of ${agent.name}`);
  return server;
}

async function relay(agent: AgentHandle, port: number, socket: Socket): Promise<void> {
  socket.on("error", () => {});
  try {
    await joinConnection(await agent.ports.connectionUrl(port), socket);
  } catch (error) {
    console.error(printable((error as Error).message));
    socket.destroy();
  }
}
