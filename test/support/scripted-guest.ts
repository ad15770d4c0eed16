import { once } from "node:events";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import type { Server as HttpServer } from "node:http";
import type { AddressInfo, Server, Socket } from "node:net";
import { join } from "node:path";
import type { GuestSecrets } from "../../src/contract/guest.ts";
import { freePort } from "../../src/core/ports.ts";
import { startOf } from "../../src/core/process-table.ts";
import { ClientFunctions } from "../../src/guest/client-functions.ts";
import { killGroup } from "../../src/guest/commands/command-process.ts";
import { Downloads } from "../../src/guest/downloads.ts";
import { listenEgressProxy } from "../../src/guest/egress-proxy.ts";
import { createRunner } from "../../src/guest/runner.ts";
import { writePlaceholders } from "../../src/guest/secrets.ts";
import { Uplink } from "../../src/guest/uplink.ts";
import { Approvals } from "../../src/runtimes/approvals.ts";
import type { Runtime } from "../../src/runtimes/runtime.ts";
import { spliceProgram } from "./splice-program.ts";

interface GuestOptions {
  id: string;
  /** A folder. */
  disk: string;
  runtimes: readonly Runtime[];
  /** The folder of the real runtimes' npm packages. */
  packages: string;
  log: (line: string) => void;
  provided: (secrets: GuestSecrets) => void;
  /** Whether a process other than the runtime works. */
  busy: () => Promise<boolean>;
}

/** The inside of a scripted machine: the real runner and its servers, in this process. */
export class ScriptedGuest {
  readonly firstToken: string;
  readonly gatewayUrl: string;
  readonly proxyUrl: string;
  readonly #disk: string;
  readonly #runner: Server;
  readonly #servers: readonly HttpServer[];
  readonly #sockets = new Set<Socket>();

  private constructor(disk: string, firstToken: string, runner: Server, servers: readonly HttpServer[]) {
    this.#disk = disk;
    this.firstToken = firstToken;
    this.#runner = runner;
    this.#servers = servers;
    const [gateway, proxy] = servers;
    this.gatewayUrl = urlOf(gateway!);
    this.proxyUrl = urlOf(proxy!);
    runner.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    });
  }

  static async start({ id, disk, runtimes, packages, log, provided, busy }: GuestOptions): Promise<ScriptedGuest> {
    // Below a folder that is no file of the agent's for the changes of its turns.
    const stateFolder = join(disk, ".local/state");
    await mkdir(stateFolder, { recursive: true });
    await writeFile(join(disk, "disk"), "");
    const logFile = join(stateFolder, "runner.log");
    const environmentFile = join(stateFolder, "environment");
    const logLine = (line: string) => {
      log(line);
      // A runner may end after its agent's folder has been removed.
      if (!existsSync(disk)) return;
      mkdirSync(stateFolder, { recursive: true }); // An import replaces the home.
      appendFileSync(logFile, `${line}\n`);
    };
    logLine("The runner begins.");
    const uplink = new Uplink();
    const downloads = new Downloads(spliceProgram);
    const functions = new ClientFunctions();
    const servers = [uplink.listen(0), listenEgressProxy(uplink, downloads, 0), functions.listen(0)] as const;
    await Promise.all(servers.map((server) => once(server, "listening")));
    const [gateway, proxy, functionServer] = servers;
    const firstToken = `first-${id}`;
    const runner = await createRunner({
      runtimes,
      context: {
        uid: process.getuid!(),
        gid: process.getgid!(),
        home: disk,
        stateFolder,
        packages,
        gatewayUrl: urlOf(gateway),
        proxyUrl: urlOf(proxy),
        functionsUrl: `${urlOf(functionServer)}/mcp`,
        runtimePort: await freePort(),
        approvals: new Approvals(),
        environmentFile,
        log: logLine,
      },
      machine: {
        identity: null,
        firstToken,
        adopt: async ({ machineId, bootId, runtime, acp, token }) => ({ machineId, bootId, runtime, acp, token }),
        provide: async (secrets) => {
          provided(secrets);
          await mkdir(stateFolder, { recursive: true });
          await writePlaceholders(environmentFile, secrets.placeholders);
        },
        setClock: async () => {},
        sync: async () => {},
        busy,
      },
      uplink,
      downloads,
      functions,
      logFile,
    });
    const guest = new ScriptedGuest(disk, firstToken, runner, servers);
    await guest.listen();
    return guest;
  }

  async listen(): Promise<void> {
    this.#runner.listen(0, "127.0.0.1");
    await once(this.#runner, "listening");
  }

  get port(): number {
    return (this.#runner.address() as AddressInfo).port;
  }

  /** Breaks all connections. */
  disconnect(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Stops listening. The runner and its runtime are unchanged. */
  hide(): void {
    this.#runner.close();
    this.disconnect();
  }

  end(): void {
    this.hide();
    for (const server of this.#servers) {
      server.close();
      server.closeAllConnections();
    }
    killCommands(join(this.#disk, "commands"));
  }
}

/** Ends the commands that run in a machine, as its end does with those of a real one. */
function killCommands(folder: string): void {
  // An import may have replaced the folder that they are in.
  if (!existsSync(folder)) return;
  for (const id of readdirSync(folder)) {
    const { record, leader } = JSON.parse(readFileSync(join(folder, id, "record.json"), "utf8"));
    if (record.status === "running" && leader && startOf(leader.pid) === leader.start) killGroup(leader.pid, "SIGKILL");
  }
}

function urlOf(server: HttpServer): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
