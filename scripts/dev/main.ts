import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { readConfig } from "../../src/config/env.ts";
import { ProcessDriver } from "../../test/support/process-driver.ts";

// `make dev`: a server without virtual machines, which restarts when a source changes. Ctrl-C ends the machines too.

const usual = readConfig(process.env).dataFolder;
const environment = {
  BERTH_PORT: "7430",
  BERTH_DATA_DIR: process.env.BERTH_DATA_DIR ?? `${usual}-dev`,
  ...process.env,
  BERTH_SPARES: "0",
};
const watched = ["src", "packages/client/src", "test/support", "scripts/dev"].map((path) => `--watch-path=${path}`);
const server = spawn(
  process.execPath,
  ["--watch", "--watch-preserve-output", ...watched, join(import.meta.dirname, "server.ts")],
  { env: { ...environment, BERTH_DATA_DIR: environment.BERTH_DATA_DIR }, stdio: "inherit" },
);
console.log(`For the tool, in another terminal:
  export BERTH_URL=http://127.0.0.1:${environment.BERTH_PORT} BERTH_API_KEY=$(cat ${environment.BERTH_DATA_DIR}/operator.key)`);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => server.kill(signal));
await once(server, "exit");
await new ProcessDriver(join(environment.BERTH_DATA_DIR, "machines")).killAll();
