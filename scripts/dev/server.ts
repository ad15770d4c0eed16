import { once } from "node:events";
import { join } from "node:path";
import { readConfig } from "../../src/config/env.ts";
import { createServer } from "../../src/server.ts";
import { ProcessDriver } from "../../test/support/process-driver.ts";
import { conversingRuntime } from "./conversing-runtime.ts";

// The server of `make dev`. Its machines are processes that stay when it is restarted.

process.umask(0o077);
const config = readConfig(process.env);
const signals = Promise.race([once(process, "SIGTERM"), once(process, "SIGINT")]);
await using server = await createServer(config, {
  runtimes: ["claude-code", "opencode", "codex", "openclaw"].map(conversingRuntime),
  openDriver: async () => new ProcessDriver(join(config.dataFolder, "machines"), "conversing"),
});
console.log(`Berth is ready at ${server.url}`);
if (server.firstSignIn !== null) console.log(`To sign in for the first time: ${server.firstSignIn}`);
await signals;
setTimeout(() => process.exit(0), 5_000).unref();
