import { execFile } from "node:child_process";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { createServer, type Server } from "../../src/server.ts";
import { testConfig } from "./config.ts";

const run = promisify(execFile);

/**
 * A data folder kept between test runs for its image and warm templates. The driver remakes them when they no longer
 * fit. It is only copied from; agents never run in it.
 */
export const seedFolder = process.env.BERTH_TEST_SEED ?? "/var/tmp/berth-test-seed";

/**
 * The runtimes tested in real machines: two, or those that are requested (`make test-runtimes`, `make test-openclaw`).
 * Each takes minutes, and without KVM OpenClaw's template a quarter of an hour. `test/runtimes` covers the same things
 * with all of them as processes of this host.
 */
export const runtimesInMachines = (process.env.BERTH_TEST_RUNTIMES ?? "claude-code,opencode").split(",");

/** Makes the seed's missing templates, all or only the one for `only`. Takes some minutes the first time. */
export async function makeSeed(only?: string): Promise<void> {
  await mkdir(seedFolder, { recursive: true });
  await using server = await openSeed();
  const driver = await server.machines.driver();
  for (const name of only ? [only] : runtimesInMachines) await driver.prepare(name);
}

/** Another run of the tests may be making templates in the seed: waits for it. */
async function openSeed(): Promise<Server> {
  for (;;) {
    try {
      return await createServer(await testConfig({ dataFolder: seedFolder }));
    } catch (error) {
      if (!(error as Error).message.includes("is in use by another server")) throw error;
      await sleep(1_000);
    }
  }
}

/**
 * Gives a data folder the seed's image and templates, or only the one for `only`. They are hard links, or copies if the
 * test will damage them.
 */
export async function plantSeed(
  dataFolder: string,
  { how = "--link", only = "" }: { how?: "--link" | "--sparse=always"; only?: string } = {},
): Promise<void> {
  await run("cp", ["--archive", how, join(seedFolder, "images"), dataFolder]);
  await mkdir(join(dataFolder, "templates"), { mode: 0o711 });
  for (const template of await readdir(join(seedFolder, "templates"))) {
    if (!template.startsWith(only)) continue;
    await run("cp", ["--archive", how, join(seedFolder, "templates", template), join(dataFolder, "templates")]);
  }
}
