import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ScriptedService } from "../support/scripted-service.ts";
import { keys, ScriptedTerminal } from "../support/scripted-terminal.ts";
import { Packages } from "./installed-packages.ts";

// The tool as `npm install --global` gives it, without the repository and with Node 20.

const run = promisify(execFile);

let packages: Packages;
let service: ScriptedService;
let home: string;
beforeAll(async () => {
  packages = await Packages.install();
  service = await ScriptedService.start();
  home = await mkdtemp(join(tmpdir(), "berth-test-home-"));
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await packages[Symbol.asyncDispose]();
  await rm(home, { recursive: true, force: true });
});

function environment(): Record<string, string> {
  const { url, key } = service.client;
  return { PATH: packages.environment.PATH!, HOME: home, BERTH_URL: url, BERTH_API_KEY: key };
}

function berth(...args: string[]) {
  return run(packages.berth, args, { env: environment() });
}

test("the tool takes less than 1 MB", () => {
  expect(packages.sizes["berth-cli"]).toBeLessThan(1_000_000);
});

test("the tool works with a service elsewhere", async () => {
  const { version } = JSON.parse((await run("cat", ["package.json"])).stdout) as { version: string };
  expect((await berth("--version")).stdout).toBe(`${version}\n`);
  await berth("agents", "create", "ada");
  expect((await berth("agents", "list", "--json")).stdout).toContain('"name":"ada"');
  expect((await berth("chat", "ada", "hello")).stdout).toBe("hello\n");
  expect(JSON.parse((await berth("turns", "list", "ada", "--json")).stdout)).toMatchObject({
    data: [{ message: "hello" }],
  });
  await expect(berth("agents", "delete", "ada")).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--yes"),
  });
});

test("a conversation on a terminal works with Node 20", async () => {
  const tool = { program: packages.berth };
  await using terminal = await ScriptedTerminal.run(["chat", "ada"], environment(), tool);
  await terminal.shows("/help shows the commands");
  terminal.type(`count 30 10${keys.enter}`);
  await terminal.shows("26 27 28 29");
  await terminal.hides("Ctrl-C interrupts");
  terminal.type(keys.ctrlD);
  expect(await terminal.exited).toBe(0);
});

test.each([["up"], ["down"], ["doctor"]])("berth %s says where the service's own set-up is", async (command) => {
  const failed = (await berth(command).catch((error: unknown) => error)) as { code: number; stderr: string };
  expect([failed.code, failed.stderr]).toEqual([1, expect.stringMatching(/tool without the service.*repository/)]);
});
