import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../src/config/config.ts";

/** Where tests keep data folders: not below a home, which the users of machines and databases cannot enter. */
const place = "/var/tmp";

/** A configuration with a new data folder and a free port; the caller removes the folder. */
export async function testConfig(changes: Partial<Config> = {}): Promise<Config> {
  return {
    host: "127.0.0.1",
    port: 0,
    dataFolder: changes.dataFolder ?? (await mkdtemp(join(place, "berth-test-"))),
    databaseUrl: null,
    imageFolder: null,
    accelerator: "tcg",
    stallMs: 300_000,
    logLevel: "silent",
    anthropic: null,
    ...changes,
  };
}
