import { once } from "node:events";
import { join } from "node:path";
import type { Config } from "../../src/config/config.ts";
import { createServer } from "../../src/server.ts";
import { ProcessDriver } from "./process-driver.ts";
import { scriptedRuntimes } from "./scripted-runtime.ts";
import { countStatements, killAt, withSteps } from "./steps.ts";

// The whole server as a process that a test can kill, at a step of its own too. Its machines are processes too. Its only
// argument is its configuration as JSON.

const config = JSON.parse(process.argv[2]!) as Config;
countStatements();
process.on("message", (step) => {
  killAt(step === "never" ? Number.POSITIVE_INFINITY : Number(step));
  process.send!("armed");
});
process.channel?.unref();
const signals = once(process, "SIGTERM");
await using server = await createServer(config, {
  runtimes: scriptedRuntimes,
  openDriver: async () => withSteps(new ProcessDriver(join(config.dataFolder, "machines"))),
});
console.log(`Berth is ready at ${server.url}`);
if (server.firstSignIn !== null) console.log(`Sign in: ${server.firstSignIn}`);
if (await Promise.race([signals.then(() => false), server.deposed.then(() => true)])) process.exit(1);
// As the real program does.
setTimeout(() => process.exit(0), 5_000).unref();
