import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { VmService } from "../support/vm-service.ts";

let service: VmService;
beforeAll(async () => {
  service = await VmService.start();
});
afterAll(() => service[Symbol.asyncDispose]());

/** Runs `./berth` as its user would, on this server. */
function start(...args: string[]) {
  return spawn(join(import.meta.dirname, "../../berth"), args, {
    env: { PATH: process.env.PATH!, BERTH_URL: service.server.url, BERTH_API_KEY: service.client.key },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function berth(...args: string[]) {
  const child = start(...args);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return { code: child.exitCode, stdout, stderr };
}

test("the three lines of the README: create, chat, delete", async () => {
  expect(await berth("agents", "create", "ada")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/ada.*ready/),
  });
  const reply = await berth("chat", "ada", "run: uname -a");
  expect(reply).toMatchObject({ code: 0, stdout: expect.stringMatching(/Linux ada .*GNU\/Linux\n```\n$/) });
  expect((await berth("agents", "list")).stdout).toMatch(/ada +claude-code +.*ready/);
  expect((await berth("agents", "delete", "ada", "--yes")).code).toBe(0);
  expect(await berth("chat", "ada", "hi")).toMatchObject({ code: 1, stderr: "berth: There is no agent ada.\n" });
});

test("Ctrl-C interrupts the reply and what the agent runs", async () => {
  await berth("agents", "create", "bea");
  const child = start("chat", "bea", "run: tail -f /dev/null");
  const id = await service.machineId("bea");
  await expect.poll(async () => (await service.exec(id, "pgrep -x tail")).exitCode, { timeout: 60_000 }).toBe(0);
  child.kill("SIGINT");
  await once(child, "exit");
  expect(child.exitCode).toBe(130);
  await expect.poll(async () => (await service.exec(id, "pgrep -x tail")).exitCode).toBe(1);
  expect((await berth("chat", "bea", "run: echo fine")).stdout).toContain("fine");
});

test("api sends a raw request and shows the answer", async () => {
  const answer = await berth("api", "GET", "/agents/bea");
  expect(JSON.parse(answer.stdout)).toMatchObject({ name: "bea", status: "ready" });
  expect(await berth("api", "POST", "/agents", "-d", '{"name":"B"}')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("agent_name_invalid"),
  });
});
