import { open, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { LLMock } from "@copilotkit/aimock";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { guestGatewayPort } from "../../src/contract/guest.ts";
import { VmService } from "../support/vm-service.ts";

// A real agent in its machine, with providers that have keys: what they are asked is answered by a mock model server.

const key = "sk-canary-3f9a1c7e5b2d";
const gateway = `http://127.0.0.1:${guestGatewayPort}`;
const mock = new LLMock({ port: 0 });
let service: VmService;
let id: string;

beforeAll(async () => {
  const url = await mock.start();
  mock.onMessage("hello", { content: "Hello from the mock model." });
  mock.onMessage("run: uname", { toolCalls: [{ name: "bash", arguments: '{"command":"uname"}' }] });
  mock.onMessage("be refused", { error: { message: "No.", type: "invalid_request_error" }, status: 400 });
  service = await VmService.start({
    anthropic: { baseUrl: url, apiKey: key },
    openai: { baseUrl: `${url}/v1`, apiKey: key },
  });
  await service.client.createAgent("ada");
  id = await service.machineId("ada");
  await copyIn(await bundle());
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await mock.stop();
});

/** The program with the official packages in it, as one file. */
async function bundle(): Promise<Buffer> {
  const entry = new URL("../support/sdk-program.ts", import.meta.url).pathname;
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    minify: true,
    keepNames: true,
    platform: "node",
    format: "esm",
    target: "node24",
  });
  return Buffer.from(outputFiles[0]!.contents);
}

/** Writes the agent's `program.mjs`, in pieces that fit into a command. */
async function copyIn(program: Buffer): Promise<void> {
  const piece = 60_000;
  for (let from = 0; from < program.length; from += piece) {
    const text = program.subarray(from, from + piece).toString("base64");
    await service.exec(id, `base64 -d <<<${text} >>/home/agent/program.mjs`, "agent");
  }
}

async function run(model: string) {
  const { stdout, stderr } = await service.exec(id, `node program.mjs ${gateway} ${model}`, "agent");
  return stdout === "" ? { stderr } : JSON.parse(stdout);
}

describe("the providers' own packages, in a machine", () => {
  test("work with a model server behind the providers' settings: streams, tools, errors", async () => {
    const answers = await run("claude-haiku-4-5");
    const heard = {
      whole: "Hello from the mock model.",
      streamed: "Hello from the mock model.",
      tool: { command: "uname" },
      deltas: expect.any(Number),
    };
    expect(answers).toMatchObject({ messages: heard, chat: heard, responses: heard });
    for (const { deltas } of [answers.messages, answers.chat, answers.responses]) expect(deltas).toBeGreaterThan(0);
    // Six calls: the first three came to the mock, and the others are not offered.
    expect(answers.refusals).toEqual([
      ...Array(3).fill("BadRequestError 400"),
      "NotFoundError 404",
      "NotFoundError 404",
      "NotFoundError 404",
    ]);
  });

  test("work with the demonstration model, which also counts tokens", async () => {
    await service.client.call("PATCH", "/agents/ada", { model: "demo/demo" });
    const answers = await run("any");
    for (const { whole, streamed, deltas, tool } of [answers.messages, answers.chat, answers.responses]) {
      expect(whole).toContain("demonstration model");
      expect(streamed).toBe(whole);
      expect(deltas).toBeGreaterThan(5);
      expect(tool).toMatchObject({ command: "uname" });
    }
    expect(answers.tokens).toBeGreaterThan(5);
    await service.client.call("PATCH", "/agents/ada", { model: null });
  });
});

describe("a provider's key is nowhere in the machine", () => {
  test("not in its memory, after turns and calls with it", async () => {
    expect(await service.client.ask("ada", "hello")).toContain("Hello from the mock model.");
    expect(mock.getRequests().length).toBeGreaterThan(0);
    const pid = await service.pid(id);
    expect(await occurrences(pid, key)).toBe(0);
    // The search finds what is there.
    expect(await occurrences(pid, "Hello from the mock model.")).toBeGreaterThan(0);
  });

  test("not in its disk and the memory that a suspension saved", async () => {
    await service.client.call("POST", "/agents/ada/suspend");
    await expect.poll(async () => (await service.client.call("GET", "/agents/ada")).body.status).toBe("suspended");
    const folder = join(service.config.dataFolder, "machines", id);
    const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((each) => each.isFile());
    expect(files.length).toBeGreaterThan(1);
    for (const { parentPath, name } of files) {
      expect((await readFile(join(parentPath, name))).includes(key), name).toBe(false);
    }
  });

  /** The last: from now on the machine has it, from the search itself. */
  test("not in its files, environments and processes", async () => {
    await service.client.call("POST", "/agents/ada/resume");
    await expect.poll(async () => (await service.client.call("GET", "/agents/ada")).body.status).toBe("ready");
    const search = `k=$(paste -sd '' <(echo ${key.slice(0, 9)}) <(echo ${key.slice(9)}));
      grep -rlaFf <(echo "$k") /etc /home /root /run /tmp /var /proc/[0-9]*/environ /proc/[0-9]*/cmdline -s`;
    expect((await service.exec(id, search.replaceAll("\n", " "))).stdout).toBe("");
  });
});

/** How often a text is in the memory of a process: the guest's, and what QEMU has of it. */
async function occurrences(pid: number, text: string): Promise<number> {
  const desired = Buffer.from(text);
  const chunk = Buffer.alloc(4 * 1024 * 1024);
  await using memory = await open(`/proc/${pid}/mem`);
  let found = 0;
  for (const line of (await readFile(`/proc/${pid}/maps`, "utf8")).split("\n")) {
    const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) r/.exec(line) ?? [];
    if (!from || !to || line.includes("[v")) continue;
    for (let at = Number.parseInt(from, 16); at < Number.parseInt(to, 16); at += chunk.length - desired.length) {
      const length = Math.min(chunk.length, Number.parseInt(to, 16) - at);
      const { bytesRead } = await memory.read(chunk, 0, length, at).catch(() => ({ bytesRead: 0 }));
      if (chunk.subarray(0, bytesRead).includes(desired)) found++;
    }
  }
  return found;
}
