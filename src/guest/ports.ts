import { once } from "node:events";
import { readdir, readFile, readlink } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import {
  guestFunctionsPort,
  guestGatewayPort,
  guestPort,
  guestProxyPort,
  guestRuntimePort,
} from "../contract/guest.ts";
import { type ListeningPort, maximumPorts } from "../contract/ports.ts";
import { statOf } from "../core/process-table.ts";
import { GuestError, type GuestHandlers } from "./control.ts";

/** Ports of the runner and the runtime, which cannot be forwarded. */
const ownPorts = new Set([guestPort, guestGatewayPort, guestProxyPort, guestFunctionsPort, guestRuntimePort]);
/** The state TCP_LISTEN in /proc/net/tcp. */
const listening = "0A";
/** USER_HZ: the unit of a process's start time. */
const ticksPerSecond = 100;
const connectMs = 10_000;

export const portHandlers: Pick<GuestHandlers, "listPorts" | "connectPort"> = {
  listPorts: async () => ({ data: (await listeningPorts()).slice(0, maximumPorts) }),
  connectPort: ({ port }) => connectPort(port),
};

/** The listening TCP ports, in order. A port that is listened on at several addresses is listed once. */
async function listeningPorts(): Promise<ListeningPort[]> {
  const tables = await Promise.all(["tcp", "tcp6"].map((table) => readFile(`/proc/net/${table}`, "latin1")));
  const sockets = new Map<number, ListeningSocket>();
  for (const socket of tables.flatMap(socketsIn)) {
    if (!ownPorts.has(socket.port) && !sockets.has(socket.port)) sockets.set(socket.port, socket);
  }
  const holders = await holdersOf(new Set([...sockets.values()].map(({ inode }) => inode)));
  const sorted = [...sockets.values()].sort((one, other) => one.port - other.port);
  return Promise.all(
    sorted.map(async ({ port, address, inode }) => ({ port, address, ...(await processOf(holders.get(inode))) })),
  );
}

/**
 * A connection to the port at the machine's own address. Its directions close independently. Throws
 * `port_not_listening`.
 */
async function connectPort(port: number): Promise<Socket> {
  if (ownPorts.has(port)) throw notListening(port);
  for (const host of ["127.0.0.1", "::1"]) {
    const socket = connect({ host, port, allowHalfOpen: true, noDelay: true });
    try {
      await once(socket, "connect", { signal: AbortSignal.timeout(connectMs) });
      return socket;
    } catch {
      socket.destroy();
    }
  }
  throw notListening(port);
}

function notListening(port: number): GuestError {
  return new GuestError("port_not_listening", `Nothing listens on port ${port} in the machine.`);
}

interface ListeningSocket {
  port: number;
  address: string;
  inode: string;
}

/** The listening sockets in a table of the form of proc_pid_net(5): a heading, then a line of fields for each. */
function socketsIn(table: string): ListeningSocket[] {
  return table
    .split("\n")
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[3] === listening)
    .map(([, local, , , , , , , , inode]) => {
      const [address, port] = local!.split(":") as [string, string];
      return { port: Number.parseInt(port, 16), address: addressOf(address), inode: inode! };
    });
}

/** An address as the kernel prints it: in hexadecimal, by words of four bytes in the machine's little-endian order. */
function addressOf(hex: string): string {
  const words = hex.match(/.{8}/g)!.map((word) => Buffer.from(word, "hex").reverse());
  const bytes = Buffer.concat(words);
  if (bytes.length === 4) return bytes.join(".");
  const groups = bytes.toString("hex").match(/.{4}/g)!;
  return new URL(`http://[${groups.join(":")}]`).hostname.slice(1, -1);
}

/** The process that holds each socket, by inode. */
async function holdersOf(inodes: ReadonlySet<string>): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  const processes = (await readdir("/proc")).filter((entry) => /^\d+$/.test(entry));
  for (const pid of processes) {
    if (found.size === inodes.size) break;
    const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => []);
    const targets = await Promise.all(descriptors.map((each) => readlink(`/proc/${pid}/fd/${each}`).catch(() => "")));
    for (const target of targets) {
      const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1];
      // Of several processes that share a socket, the oldest opened it.
      if (inode && inodes.has(inode) && !found.has(inode)) found.set(inode, Number(pid));
    }
  }
  return found;
}

async function processOf(pid: number | undefined): Promise<Pick<ListeningPort, "program" | "pid" | "since">> {
  const stat = pid === undefined ? null : statOf(pid);
  if (!stat) return { program: null, pid: null, since: null };
  const program = await readFile(`/proc/${pid}/comm`, "utf8").catch(() => null);
  const uptime = Number((await readFile("/proc/uptime", "utf8")).split(" ")[0]);
  const age = uptime - Number(stat.start) / ticksPerSecond;
  return { program: program?.trim() ?? null, pid: stat.pid, since: new Date(Date.now() - age * 1000).toISOString() };
}
