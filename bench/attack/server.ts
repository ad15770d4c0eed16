import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { createInterface } from "node:readline";
import type { Config } from "../../src/config/config.ts";
import { createServer } from "../../src/server.ts";
import { ProcessDriver } from "../../test/support/process-driver.ts";
import { scriptedRuntimes } from "../../test/support/scripted-runtime.ts";

// The server, with machines that are processes. Its only argument is its configuration as JSON. Prints `{url, key}`. For
// each line on its standard input it prints how late its event loop was since the line before, in milliseconds.

const config = JSON.parse(process.argv[2]!) as Config;
const machines = new ProcessDriver(join(config.dataFolder, "machines"));
{
  await using server = await createServer(config, { runtimes: scriptedRuntimes, openDriver: async () => machines });
  const key = (await readFile(join(config.dataFolder, "operator.key"), "utf8")).trim();
  console.log(JSON.stringify({ url: server.url, key }));
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  for await (const _ of createInterface({ input: process.stdin })) {
    console.log(JSON.stringify({ p99: delay.percentile(99) / 1e6, max: delay.max / 1e6 }));
    delay.reset();
  }
}
await machines.killAll();
