import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { conversingRuntime } from "../../scripts/dev/conversing-runtime.ts";
import { startOf } from "../../src/core/process-table.ts";
import { ClientFunctions } from "../../src/guest/client-functions.ts";
import { Downloads } from "../../src/guest/downloads.ts";
import { createRunner } from "../../src/guest/runner.ts";
import { Uplink } from "../../src/guest/uplink.ts";
import { Approvals } from "../../src/runtimes/approvals.ts";
import { scriptedRuntime } from "./scripted-runtime.ts";
import { spliceProgram } from "./splice-program.ts";

// A machine as a process: the real runner without a virtual machine. Its arguments are the folder that is its disk, one in
// which it reports its state (`machine.json`, a MachineRecord, and, once adopted, `identity.json`), and its runtimes
// (MachineRuntime). A second process on the same folder exits at once.

/** `scripted` does what its messages say; `conversing` calls models, for development. */
export type MachineRuntime = "scripted" | "conversing";

/** A running machine's report on itself. */
export interface MachineRecord {
  pid: number;
  start: string;
  /** The port its runner listens on; null while it starts. */
  port: number | null;
  /** Where its programs reach models, `http://127.0.0.1:PORT`. */
  gatewayUrl: string;
  /** The token its runner accepts before adoption. */
  firstToken: string;
}

/** The server's settings for the machine in this run. */
export interface MachineIdentity {
  pid: number;
  token: string;
}

const folder = process.argv[2]!;
const records = process.argv[3]!;
const runtimeOf = (process.argv[4] as MachineRuntime) === "conversing" ? conversingRuntime : scriptedRuntime;
const file = (name: string) => join(folder, name);

async function write(name: string, value: MachineRecord | MachineIdentity): Promise<void> {
  await writeFile(join(records, `${name}.new`), JSON.stringify(value));
  await rename(join(records, `${name}.new`), join(records, name));
}

// A socket without a file, so that the lock ends with the process.
const lock = createServer().listen(`\0berth-machine-${createHash("sha256").update(folder).digest("hex").slice(0, 40)}`);
await once(lock, "listening");

const firstToken = randomBytes(32).toString("base64url");
const uplink = new Uplink();
const gateway = uplink.listen(0);
await once(gateway, "listening");
const gatewayUrl = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
const functions = new ClientFunctions();
const functionServer = functions.listen(0);
await once(functionServer, "listening");
const functionsUrl = `http://127.0.0.1:${(functionServer.address() as AddressInfo).port}/mcp`;
const record = { pid: process.pid, start: startOf(process.pid)!, gatewayUrl, firstToken };
await rm(join(records, "identity.json"), { force: true });
await write("machine.json", { ...record, port: null });
await mkdir(join(folder, ".local/state"), { recursive: true });
const runner = await createRunner({
  runtimes: ["claude-code", "opencode", "codex", "openclaw"].map(runtimeOf),
  context: {
    uid: process.getuid!(),
    gid: process.getgid!(),
    home: folder,
    stateFolder: join(folder, ".local/state"),
    packages: join(import.meta.dirname, "../../node_modules"),
    gatewayUrl,
    proxyUrl: "",
    functionsUrl,
    runtimePort: 0,
    approvals: new Approvals(),
    environmentFile: "/dev/null",
    log: console.error,
  },
  machine: {
    identity: null,
    firstToken,
    adopt: async ({ machineId, bootId, runtime, acp, token }) => {
      await write("identity.json", { pid: process.pid, token });
      return { machineId, bootId, runtime, acp, token };
    },
    provide: async () => {},
    setClock: async () => {},
    sync: async () => {},
    busy: async () => false,
  },
  uplink,
  downloads: new Downloads(spliceProgram),
  functions,
  logFile: file("machine.log"),
});
runner.listen(0, "127.0.0.1");
await once(runner, "listening");
await write("machine.json", { ...record, port: (runner.address() as AddressInfo).port });
