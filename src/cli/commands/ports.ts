import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import type { AgentHandle } from "@berth/client";
import { InvalidArgumentError } from "commander";
import { openInBrowser } from "../browser.ts";
import type { ToolCommand } from "../command.ts";
import { agentOf } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { CliError } from "../errors.ts";
import { Interrupts } from "../interrupts.ts";
import { joinConnection } from "../port-connection.ts";
import { printable } from "../terminal.ts";
import { futureTime, localTime } from "../time.ts";
import { note } from "../verbosity.ts";

/** A local port, 0 for any free one, and one in a machine. */
interface Forwarding {
  local: number;
  remote: number;
}

/** `berth ports`, `port-forward`, `open`, `share` and `shares` */
export function register(program: ToolCommand): void {
  program.add("ports <agent>", "list the listening ports of an agent's machine").lists({
    list: (name: string) => agentOf(name).ports.list(),
    empty: (name) => `No ports are listening in the machine of ${name}.`,
    columns: {
      PORT: "port",
      ADDRESS: "address",
      PROGRAM: ({ program: listener, pid }) => (listener === null ? "" : `${printable(listener)} (${pid})`),
      SINCE: ({ since }) => localTime(since),
    },
  });
  program
    .add("port-forward <agent>", "forward ports from an agent's machine to this one until Ctrl-C")
    .argument("<ports...>", "each as REMOTE or LOCAL:REMOTE; a local port of 0 is any free one", forwarding)
    .action(forwardPorts);
  program
    .add("open <agent>", "open a page that an agent serves in a browser")
    .argument("<port>", "the port that its program listens on", portNumber)
    .option("--path <path>", "the page to open", "/")
    .option("--no-browser", "only print the address, which works once, within 30 seconds")
    .prints(
      async (name: string, port: number, { path }: { path: string; browser: boolean }) => ({
        url: await agentOf(name).ports.preview(port, { path }),
      }),
      async ({ url }, _name, _port, { browser }) => {
        const isOpened = browser && readEnvironment().hasDisplay && (await openInBrowser(url));
        return isOpened ? note("Opened in the browser.") : url;
      },
    );
  program
    .add("share <agent>", "make a public link to a page that an agent serves")
    .argument("<port>", "the port that its program listens on", portNumber)
    .option("--expires <time>", "when the link expires: 12h, 90d or a date; default: never", futureTime)
    .prints(
      (name: string, port: number, { expires }: { expires?: string }) =>
        agentOf(name).ports.share(port, expires === undefined ? {} : { expiresAt: expires }),
      ({ url, id, expiresAt }, name) => {
        console.log(url);
        const end = expiresAt === null ? "" : `It expires at ${localTime(expiresAt)}. `;
        note(`Anyone with this link can see the page. ${end}To remove it: berth shares remove ${name} ${id}`);
      },
    );
  addShares(program);
}

function addShares(program: ToolCommand): void {
  const shares = program.add("shares", "list and remove the public links to pages that agents serve");
  shares.add("list <agent>", "list the public links to an agent's pages").lists({
    list: (name: string) => agentOf(name).ports.shares(),
    empty: (name) => `${name} has no public links. To share a page: berth share ${name} PORT`,
    columns: {
      ID: "id",
      PORT: "port",
      MADE: ({ createdAt }) => localTime(createdAt),
      ENDS: ({ expiresAt }) => localTime(expiresAt, "never"),
    },
  });
  shares.add("remove <agent> <id>", "remove a public link", { id: "the link's id" }).prints(
    (name: string, id: string) => agentOf(name).ports.removeShare(id),
    () => note("The link was removed."),
  );
}

function portNumber(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new InvalidArgumentError("A port must be a number from 1 to 65535.");
}

/** Parses `REMOTE` or `LOCAL:REMOTE`, and adds it to those before. */
function forwarding(text: string, before: Forwarding[] = []): Forwarding[] {
  const [first, second, ...more] = text.split(":") as [string, string?, ...string[]];
  if (more.length > 0)
    throw new InvalidArgumentError("A port must have the form REMOTE or LOCAL:REMOTE, such as 8080:3000.");
  if (second === undefined) return [...before, { local: portNumber(first), remote: portNumber(first) }];
  return [...before, { local: first === "0" ? 0 : portNumber(first), remote: portNumber(second) }];
}

async function forwardPorts(name: string, ports: Forwarding[]): Promise<void> {
  const agent = agentOf(name);
  await agent.get();
  using interrupts = new Interrupts();
  const servers: Server[] = [];
  try {
    for (const each of ports) servers.push(await forwardPort(agent, each));
    await once(interrupts.cancel, "abort");
  } finally {
    for (const server of servers) server.close();
  }
  process.exit(0); // Closes the connections that are open.
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
