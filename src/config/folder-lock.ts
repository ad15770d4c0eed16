import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync, readlinkSync } from "node:fs";
import { chmod, link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { kill, startOf } from "../core/process-table.ts";

/** How long a killed process may take to be gone. */
const endMs = 5_000;
const endPollMs = 20;
/** Linux's limit in bytes (unix(7)), without the null byte. */
const longestSocketPath = 107;

/** The owner of a data folder. */
export interface Holder {
  pid: number;
  /** Its start in clock ticks since the machine's boot. */
  start: string;
  /** The id of a server that shares the folder with others; null for a process that does not. */
  server: string | null;
  /** Alive or gone; `elsewhere`: alive in another container; `unknown`: of another boot or container, and silent. */
  state: "alive" | "gone" | "elsewhere" | "unknown";
  /** The name of its socket in the folder; empty: none. */
  socket: string;
}

/**
 * The lock of a data folder: two servers on one folder would run the same machines. It is the file `server.pid`, with
 * the process id, its start in clock ticks since the machine's boot, the id of a server that shares the folder with
 * standbys, and where process ids mean the same: the boot and the process namespace. It outlives its process. Its last line
 * names a socket in the folder where the process listens: other containers of the host see by it that the process lives.
 */
export class FolderLock {
  readonly #folder: string;
  readonly #file: string;
  #listener: Server | null = null;

  constructor(folder: string) {
    this.#folder = folder;
    this.#file = join(folder, "server.pid");
  }

  /** Creates the folder if necessary. */
  async prepare(): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    // The users of the machines and the database can enter the folder, but not list it.
    await chmod(this.#folder, 0o711);
  }

  async holder(): Promise<Holder | null> {
    const [pid = "", start = "", server = "", place = "", name = ""] = (
      await readFile(this.#file, "utf8").catch(() => "")
    ).split("\n");
    if (start === "") return null;
    const socket = /^server\.[0-9a-f]+\.sock$/.test(name) ? name : "";
    const holder = { pid: Number(pid), start, server: server === "" ? null : server, socket };
    // A lock without a place is from an older version: it counts as local.
    if (place !== "" && place !== ownPlace()) {
      const isAlive = socket !== "" && (await answers(join(this.#folder, socket)));
      return { ...holder, state: isAlive ? "elsewhere" : "unknown" };
    }
    return { ...holder, state: startOf(holder.pid) === start ? "alive" : "gone" };
  }

  /** The server that had the folder, and whose process is certainly gone; null if there is none. */
  async goneHolder(): Promise<string | null> {
    const holder = await this.holder();
    return holder?.state === "gone" ? holder.server : null;
  }

  /**
   * Takes the lock. Replaces the lock of a process that is gone. Kills the process of the server `before`, the previous
   * leader, if it still has the lock. Throws if any other process has it.
   */
  async take(server: string | null, before: string | null = null): Promise<void> {
    const socket = await this.#listen();
    try {
      await this.#takeWith(socket, server, before);
    } catch (error) {
      await this.#endListening(socket);
      throw error;
    }
  }

  async #takeWith(socket: string, server: string | null, before: string | null): Promise<void> {
    for (;;) {
      if (await this.#write(server, socket)) return;
      const holder = await this.holder();
      // A previous leader there ends itself: it has lost its lease in the database.
      const isBefore = before !== null && holder?.server === before;
      if (holder?.state === "elsewhere" && !isBefore) throw new Error(inUseElsewhere(this.#folder));
      if (holder?.state === "alive") {
        const isReplaced = before !== null && holder.server === before && holder.pid !== process.pid;
        if (!isReplaced) throw new Error(inUse(this.#folder, holder.pid));
        await end(holder);
      }
      await rm(this.#file, { force: true });
      if (holder && holder.socket !== "") await rm(join(this.#folder, holder.socket), { force: true });
    }
  }

  async release(): Promise<void> {
    const holder = await this.holder();
    await rm(this.#file, { force: true });
    await this.#endListening(holder?.socket ?? "");
  }

  /** Returns the socket's name; empty where the folder's path is too long for a socket. */
  async #listen(): Promise<string> {
    const name = `server.${randomBytes(8).toString("hex")}.sock`;
    const path = join(this.#folder, name);
    if (Buffer.byteLength(path) > longestSocketPath) return "";
    const listener = createServer((connection) => connection.destroy()).listen(path);
    await once(listener, "listening");
    listener.unref();
    this.#listener = listener;
    return name;
  }

  async #endListening(socket: string): Promise<void> {
    this.#listener?.close();
    this.#listener = null;
    if (socket !== "") await rm(join(this.#folder, socket), { force: true });
  }

  /** Writes the lock atomically. False if there is one. */
  async #write(server: string | null, socket: string): Promise<boolean> {
    const partial = `${this.#file}.${process.pid}`;
    const lines = [process.pid, startOf(process.pid), server ?? "", ownPlace(), socket];
    await writeFile(partial, `${lines.join("\n")}\n`, { mode: 0o644 });
    try {
      await link(partial, this.#file);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      return false;
    } finally {
      await rm(partial, { force: true });
    }
  }
}

export function inUse(folder: string, pid: number): string {
  return `The data folder ${folder} is in use by another server (process ${pid}).`;
}

function inUseElsewhere(folder: string): string {
  return `The data folder ${folder} is in use by a server in another container. Stop that container, or use another volume.`;
}

/** Whether a process listens at the socket. */
async function answers(path: string): Promise<boolean> {
  const connection = connect(path);
  try {
    await once(connection, "connect");
    return true;
  } catch {
    return false;
  } finally {
    connection.destroy();
  }
}

/** Kills a process, even a stopped one (SIGSTOP). Throws if that is not permitted, or the process does not end. */
async function end({ pid, start }: Holder): Promise<void> {
  kill(pid);
  for (const until = performance.now() + endMs; startOf(pid) === start; await sleep(endPollMs)) {
    if (performance.now() > until) throw new Error(`The process ${pid} does not end.`);
  }
}

/** Where this process's ids are valid. */
function ownPlace(): string {
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  return `${boot} ${readlinkSync("/proc/self/ns/pid")}`;
}
