import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { createServer } from "../../src/server.ts";
import { testConfig } from "../../test/support/config.ts";
import { listeningMachines } from "./machines.ts";
import { relayRuntime } from "./runtime.ts";

// The server. Its machines are the runners on the ports in its first argument. The optional second argument is the
// address of a server for Anthropic's API. Prints `{url, key, dataFolder}`.

const driver = listeningMachines(JSON.parse(process.argv[2]!) as number[]);

const provider = process.argv[3];
const anthropic = provider === undefined ? null : { baseUrl: provider, apiKey: "key" };
const config = await testConfig({ logLevel: "warn", memoryMiB: 10_000_000, anthropic });
{
  await using server = await createServer(config, { runtimes: [relayRuntime()], openDriver: async () => driver });
  const key = (await readFile(join(config.dataFolder, "operator.key"), "utf8")).trim();
  console.log(JSON.stringify({ url: server.url, key, dataFolder: config.dataFolder }));
  process.stdin.resume();
  await once(process.stdin, "end");
}
await rm(config.dataFolder, { recursive: true, maxRetries: 10 });
process.exit();
