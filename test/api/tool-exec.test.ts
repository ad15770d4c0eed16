import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ended } from "../support/scripted-api.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// `berth exec` and `berth commands` with the real service: the command runs as a process of the scripted machine.

const launcher = fileURLToPath(new URL("../../berth", import.meta.url));

let service: ScriptedService;
beforeAll(async () => {
  service = await ScriptedService.start();
  await service.client.createAgent("ada");
});
afterAll(() => service[Symbol.asyncDispose]());

function start(args: string[]): ChildProcess {
  const { url, key } = service.client;
  return spawn(launcher, args, { env: { PATH: process.env.PATH, TZ: "UTC", BERTH_URL: url, BERTH_API_KEY: key } });
}

async function berth(args: string[], input: string | Buffer = "") {
  const child = start(args);
  child.stdin!.on("error", () => {});
  child.stdin!.end(input);
  return ended(child);
}

test("a command has the tool's streams and gives it its exit code", async () => {
  const line = "tr a-z A-Z; echo problem >&2; exit 7";
  expect(await berth(["exec", "ada", line], "hello")).toEqual({ code: 7, stdout: "HELLO", stderr: "problem\n" });
});

test("several words are a program and its arguments, with options of their own", async () => {
  const { stdout, code } = await berth(["exec", "-e", "A=1 2", "ada", "--", "printf", "%s-", "--json", "-n", "$A"]);
  expect([code, stdout]).toEqual([0, "--json--n-$A-"]);
  expect((await berth(["exec", "ada", "-e", "A=1", "--", "printenv", "A"])).stdout).toBe("1\n");
});

test("a large input and a large output pass whole", { timeout: 60_000 }, async () => {
  const input = Buffer.alloc(3_000_000, "0123456789abcdef\n");
  const { code, stdout } = await berth(["exec", "ada", "cat"], input);
  expect([code, stdout === input.toString()]).toEqual([0, true]);
});

test("no output is lost to a reader that is slower than the command", async () => {
  const child = start(["exec", "ada", "yes 0123456789abcdef | head -c 60000000"]);
  child.stdin!.end();
  const written = async () => {
    const { data } = (await service.client.call("GET", "/agents/ada/commands")).body;
    return data[0]?.outputBytes ?? 0;
  };
  await expect.poll(written).toBeGreaterThan(8_000_000);
  let bytes = 0;
  child.stdout!.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
  });
  const [code] = await once(child, "close");
  expect([code, bytes]).toEqual([0, 60_000_000]);
});

test("a command that reads late gets all of its input, and its end", async () => {
  const input = Buffer.alloc(4_000_000, "0123456789abcdef\n");
  expect(await berth(["exec", "ada", "sleep 8; wc -c"], input)).toEqual({ code: 0, stdout: "4000000\n", stderr: "" });
});

test("a signal's exit code is a shell's, and a time limit's is timeout's", async () => {
  expect((await berth(["exec", "ada", "kill -TERM $$"])).code).toBe(143);
  expect((await berth(["exec", "--timeout", "1", "ada", "sleep 100"])).code).toBe(124);
});

test("Ctrl-C goes to the command", async () => {
  const child = start(["exec", "ada", "trap 'echo caught; exit 5' INT; echo ready; while true; do sleep 0.1; done"]);
  const outcome = ended(child);
  await once(child.stdout!, "data");
  child.kill("SIGINT");
  expect(await outcome).toMatchObject({ code: 5, stdout: expect.stringContaining("caught") });
});

test.each(["SIGTERM", "SIGHUP"] as const)("%s goes to the command", async (signal) => {
  const child = start(["exec", "ada", `trap 'exit 5' ${signal.slice(3)}; echo ready; while true; do sleep 0.1; done`]);
  const outcome = ended(child);
  await once(child.stdout!, "data");
  child.kill(signal);
  expect((await outcome).code).toBe(5);
});

test("a command ends when the reader of its output is gone", async () => {
  const child = start(["exec", "ada", "yes"]);
  await once(child.stdout!, "data");
  child.stdout!.destroy();
  await once(child, "exit");
  const { data } = (await service.client.call("GET", "/agents/ada/commands")).body;
  const path = `/agents/ada/commands/${data[0].id}`;
  await expect.poll(async () => (await service.client.call("GET", path)).body.status).toBe("exited");
});

test("a detached command is listed, read, written to and ended", async () => {
  const { stdout } = await berth(["exec", "--detach", "ada", "echo started; sleep 1000"]);
  const id = stdout.trim();
  expect((await berth(["commands", "list", "ada"])).stdout).toMatch(new RegExp(`${id} .* running +echo started`));
  const logs = start(["commands", "logs", "ada", id]);
  const read = ended(logs);
  await once(logs.stdout!, "data");
  expect((await berth(["commands", "signal", "ada", id, "-s", "SIGKILL"])).stdout).toBe("SIGKILL was sent.\n");
  expect(await read).toEqual({ code: 0, stdout: "started\n", stderr: "" });
  expect((await berth(["commands", "show", "ada", id])).stdout).toContain("SIGKILL");
  expect((await berth(["commands", "input", "ada", id], "x")).stderr).toContain("has ended");
});

test("a command that cannot run is reported", async () => {
  expect(await berth(["exec", "ada", "--cwd", "/no/such", "--", "true"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("/no/such"),
  });
  expect((await berth(["exec", "nobody", "true"])).stderr).toContain("nobody");
  expect((await berth(["exec", "ada", "-e", "novalue", "--", "true"])).code).toBe(2);
});
