import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { dialPort } from "../../src/machines/connect.ts";
import type { Driver, RunningMachine } from "../../src/machines/driver.ts";
import { createServer } from "../../src/server.ts";
import { testConfig } from "../../test/support/config.ts";
import { relayRuntime } from "./runtime.ts";

// The server. Its machines are the runners on the ports in its first argument. The optional second argument is the
// address of a server for Anthropic's API. Prints `{url, key}`.

const free = JSON.parse(process.argv[2]!) as number[];
const machines = new Map<string, { port: number; token: string; unadopted: boolean }>();

/** Machines that already run and never end. */
const driver: Driver = {
  prepare: async () => {},
  create: async ({ id }, progress) => {
    progress.plan(["machine", "runtime"]);
    machines.set(id, { port: free.pop()!, token: "first", unadopted: true });
    return running(id);
  },
  boot: async ({ id }) => running(id),
  wake: async ({ id }) => running(id),
  attach: async ({ id }) => running(id),
  adopting: async (id, _, next) => void Object.assign(machines.get(id)!, { token: next }),
  adopted: async (id) => void Object.assign(machines.get(id)!, { unadopted: false }),
  token: async (id) => machines.get(id)!.token,
  suspend: async () => {},
  snapshot: async () => ({ bytes: 0, hasMemory: false }),
  restore: async () => {},
  removeSnapshot: async () => {},
  snapshots: async () => [],
  stage: async () => {},
  packDisk: async () => "",
  imageId: "",
  accelerator: "",
  keepLog: async () => {},
  keptLog: async () => "",
  stop: async () => {},
  sweep: async () => {},
  endHung: async () => {},
  destroy: async () => {},
  invalidate: async () => {},
  observe: async (id) => ({
    id,
    generation: 1,
    restarts: 0,
    restores: 0,
    phase: machines.has(id) ? "running" : "absent",
    image: null,
  }),
  // Otherwise the service would look after machines that it believes lost, once a minute.
  list: async () =>
    [...machines.keys()].map((id) => ({ id, generation: 1, restarts: 0, restores: 0, phase: "running", image: null })),
  handshake: async () => "proof",
  dial: async (id) => dialPort(machines.get(id)!.port),
  ended: () => new Promise(() => {}),
  close: async () => {},
};

function running(id: string): RunningMachine {
  const { token, unadopted } = machines.get(id)!;
  return { id, origin: "clone", tokens: [token], unadopted };
}

const provider = process.argv[3];
const anthropic = provider === undefined ? null : { baseUrl: provider, apiKey: "key" };
const config = await testConfig({ logLevel: "warn", memoryMiB: 1_000_000, anthropic });
{
  await using server = await createServer(config, { runtimes: [relayRuntime()], openDriver: async () => driver });
  const key = (await readFile(join(config.dataFolder, "operator.key"), "utf8")).trim();
  console.log(JSON.stringify({ url: server.url, key }));
  process.stdin.resume();
  await once(process.stdin, "end");
}
await rm(config.dataFolder, { recursive: true, maxRetries: 10 });
process.exit();
