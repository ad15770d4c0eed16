import { execFile } from "node:child_process";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { runtimes } from "../../src/runtimes/all.ts";
import { createServer } from "../../src/server.ts";
import { testConfig } from "./config.ts";

const run = promisify(execFile);

/**
 * A data folder that is kept from one run of the tests to the next, for its image and its warm templates. The
 * driver itself makes them anew when they no longer fit. It is used to copy from, never to run agents in.
 */
export const seedFolder = process.env.BERTH_TEST_SEED ?? "/var/tmp/berth-test-seed";

/**
 * The runtimes that are tried in real machines. OpenClaw only where it alone is asked for (`make test-openclaw`): without KVM it
 * takes a quarter of an hour to make its template, and as long to boot. `test/runtimes` has it do all the same things as a
 * process of this host.
 */
export const runtimesInMachines = runtimes
  .map(({ name }) => name)
  .filter((name) => (name === "openclaw") === (process.env.BERTH_TEST_OPENCLAW === "1"));

/** Makes the seed's templates where they are not there, all or that of `only`: some minutes the first time. */
export async function makeSeed(only?: string): Promise<void> {
  await mkdir(seedFolder, { recursive: true });
  await using server = await createServer(await testConfig({ dataFolder: seedFolder }));
  const driver = await server.machines.driver();
  for (const name of only ? [only] : runtimesInMachines) await driver.prepare(name);
}

/**
 * Gives a data folder the seed's image and templates, or the one of `only`, as hard links or, for one that is to be
 * spoilt, as copies.
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
