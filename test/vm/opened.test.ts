import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Berth, type CommandEvent, outputBytes } from "@berth/client";
import type OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openAiOf } from "../support/openai-client.ts";
import { png } from "../support/pictures.ts";
import { VmService } from "../support/vm-service.ts";

// The machine, open to its owner: what the tests in test/api do with processes of this machine, once with a real one.

let service: VmService;
let berth: Berth;
let openai: OpenAI;
beforeAll(async () => {
  service = await VmService.start();
  await service.client.createAgent("ada");
  const { url, key } = service.client;
  berth = new Berth({ url, key });
  openai = openAiOf({ url, key });
});
afterAll(() => service[Symbol.asyncDispose]());

async function run(command: string | string[], options: { user?: "root" } = {}) {
  return berth.agent("ada").commands.run({ command, ...options });
}

async function sleepNow(): Promise<void> {
  await berth.agent("ada").suspend();
  await expect.poll(async () => (await berth.agent("ada").get()).status, { timeout: 120_000 }).toBe("suspended");
}

test("a command runs as the agent's user in its home folder, or as root, with the web's proxy", async () => {
  expect(await run("id -un; pwd; echo $HOME; tty; echo $HTTPS_PROXY; exit 3")).toMatchObject({
    exitCode: 3,
    stdout: expect.stringMatching(/^agent\n\/home\/agent\n\/home\/agent\nnot a tty\nhttp:\/\/127\.0\.0\.1:\d+\n$/),
  });
  expect((await run(["id", "-un"], { user: "root" })).stdout).toBe("root\n");
});

test("a command continues across a sleep of its machine, and loses no line", async () => {
  const command = "for i in $(seq 1 30); do echo line $i; sleep 0.5; done";
  const { id } = await berth.agent("ada").commands.start({ command });
  await sleepNow();
  await berth.agent("ada").resume({ wait: "ready" });
  let text = "";
  for await (const event of berth.agent("ada").commands.events(id)) text += Buffer.from(outputBytes(event)).toString();
  expect(text).toBe(Array.from({ length: 30 }, (_, at) => `line ${at + 1}\n`).join(""));
  for await (const event of berth.events({ after: 0 })) {
    if (event.type !== "command.exited" || event.commandId !== id) continue;
    expect(event).toMatchObject({ agent: "ada", exitCode: 0, lost: false });
    break;
  }
});

test("an open terminal sleeps with its machine, and the next key finds the shell as it was", async () => {
  const terminal = berth.agent("ada").terminal();
  let text = "";
  const over = (async () => {
    for await (const event of terminal as AsyncIterable<CommandEvent>) {
      text += Buffer.from(outputBytes(event)).toString();
      if (event.type === "command.exited") return event.exitCode;
    }
    return null;
  })();
  terminal.write("kept=some''thing; stty size; echo rea''dy\r");
  await expect.poll(() => text, { timeout: 120_000 }).toMatch(/24 80\r\nready/);
  await sleepNow();
  terminal.write("echo $kept-$kept; exit 4\r");
  await expect.poll(() => text, { timeout: 120_000 }).toContain("something-something");
  expect(await over).toBe(4);
});

test("files arrive whole, with the rights of the one who asks", async () => {
  const { files } = berth.agent("ada");
  const sent = randomBytes(20_000_000);
  const sha256 = createHash("sha256").update(sent).digest("hex");
  expect(await files.write("up/large.bin", new Blob([sent]))).toMatchObject({ size: sent.length, sha256 });
  expect((await run("sha256sum up/large.bin; stat -c '%U %a' up/large.bin")).stdout).toBe(
    `${sha256}  up/large.bin\nagent 644\n`,
  );
  const back = Buffer.from(await (await files.read("up/large.bin")).arrayBuffer());
  expect(back.equals(sent)).toBe(true);
  await expect(files.write("/root/x", "x")).rejects.toMatchObject({ code: "permission_denied" });
  expect(await files.write("/root/x", "x", { user: "root" })).toMatchObject({ size: 1 });
  await expect(files.read("/root/x")).rejects.toMatchObject({ code: "permission_denied" });
});

test("a full disk is reported, and the existing file stays", async () => {
  const { files } = berth.agent("ada");
  // A file system of its own, so that the machine itself is not in need.
  const made = await run("mkdir -p /mnt/small && mount -t tmpfs -o size=1m,mode=777 none /mnt/small", { user: "root" });
  expect(made).toMatchObject({ exitCode: 0 });
  await files.write("/mnt/small/kept", "kept");
  const large = new Blob([randomBytes(3_000_000)]);
  await expect(files.write("/mnt/small/kept", large)).rejects.toMatchObject({ code: "machine_disk_full" });
  expect(await (await files.read("/mnt/small/kept")).text()).toBe("kept");
  expect((await run("ls -A /mnt/small")).stdout).toBe("kept\n");
});

test("a picture that a client of OpenAI's API sends is a file in the machine, which the agent's tools read", async () => {
  const picture = png(200, 200);
  const content = [
    { type: "input_text" as const, text: "run: sha256sum ~/inbox/*/*" },
    {
      type: "input_image" as const,
      detail: "auto" as const,
      image_url: `data:image/png;base64,${picture.toString("base64")}`,
    },
  ];
  const response = await openai.responses.create({ model: "ada", input: [{ role: "user", content }] });
  expect(response.output_text).toContain(createHash("sha256").update(picture).digest("hex"));
});

test("a function of an OpenAI client is a tool of the runtime in the machine, and its result goes into the same turn", async () => {
  const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const tool = { type: "function" as const, name: "weather", description: "Of a city.", parameters, strict: false };
  // Claude Code's models find a tool that came after their conversation's first turn by a search.
  const search = 'use: ToolSearch {"query":"select:mcp__client__weather"}';
  const conversation = "conversation-1";
  await openai.responses.create({ model: "ada", input: search, conversation, tools: [tool] });
  const input = 'use: weather {"city":"Oslo"}';
  const asked = await openai.responses.create({ model: "ada", input, conversation, tools: [tool] });
  expect(asked.output).toMatchObject([{ type: "function_call", name: "weather", arguments: '{"city":"Oslo"}' }]);
  const { call_id } = asked.output[0] as { call_id: string };
  const output = [{ type: "function_call_output" as const, call_id, output: "It rains in Oslo." }];
  const answered = await openai.responses.create({ model: "ada", input: output, tools: [tool] });
  expect(answered.output_text).toContain("It rains in Oslo.");
});

test("a large upload arrives complete, and a full disk refuses one", async () => {
  const content = randomBytes(20_000_000);
  const { size, sha256 } = await berth.agent("ada").files.write("large.bin", new Blob([content]));
  expect([size, sha256]).toEqual([content.length, createHash("sha256").update(content).digest("hex")]);
  expect((await run("sha256sum < large.bin")).stdout.slice(0, 64)).toBe(sha256);
  await service.exec(await service.machineId("ada"), "mount -t tmpfs -o size=8m,uid=1000 tmpfs /mnt");
  const refused = berth.agent("ada").files.write("/mnt/large.bin", new Blob([content]));
  await expect(refused).rejects.toMatchObject({ body: { code: "machine_disk_full" } });
  expect((await run("ls -A /mnt")).stdout).toBe("");
});

test("an upload that the machine's end breaks off leaves the file that was there", async () => {
  const { files } = berth.agent("ada");
  await files.write("kept.txt", "kept");
  const endless = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: async (controller) => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      controller.enqueue(new Uint8Array(1_000));
    },
  });
  const broken = files.write("kept.txt", endless).then(
    () => "written",
    () => "broken off",
  );
  await expect.poll(async () => (await run("ls -A | wc -l")).stdout, { timeout: 60_000 }).not.toBe("");
  process.kill(await service.pid(await service.machineId("ada")), "SIGKILL");
  expect(await broken).toBe("broken off");
  expect(await (await files.read("kept.txt")).text()).toBe("kept");
  expect((await run("ls -A")).stdout).not.toMatch(/berth|\.part|tmp/);
});

test("what it serves is listed, seen in a browser's way, and wakes it", async () => {
  const server = "require('http').createServer((q, s) => s.end('page ' + q.url)).listen(3000, () => console.log('up'))";
  const { id } = await berth.agent("ada").commands.start({ command: ["node", "-e", server] });
  const first = await berth.agent("ada").commands.events(id)[Symbol.asyncIterator]().next();
  expect(first.value).toMatchObject({ text: "up\n" });
  const ports = await berth.agent("ada").ports.list();
  expect(ports).toContainEqual(expect.objectContaining({ port: 3000, address: "::" }));
  expect(ports.some(({ port }) => port >= 7000 && port <= 7002)).toBe(false);
  const entered = await ask(await berth.agent("ada").ports.preview(3000));
  const cookie = entered.headers["set-cookie"]![0]!.split(";")[0]!;
  const url = `${new URL(await berth.agent("ada").ports.preview(3000)).origin}/deep`;
  expect(await textAt(url, cookie)).toBe("page /deep");
  await sleepNow();
  expect(await textAt(url, cookie)).toBe("page /deep");
});

test("ssh is the agent's user with the web's proxy, or root", async () => {
  const folder = await mkdtemp(join(tmpdir(), "berth-test-vm-ssh-"));
  const env = { PATH: process.env.PATH, XDG_CONFIG_HOME: folder, BERTH_URL: service.client.url };
  const launcher = fileURLToPath(new URL("../../berth", import.meta.url));
  const ssh = async (...args: string[]) => {
    const all = { env: { ...env, BERTH_API_KEY: service.client.key } };
    return (await promisify(execFile)(launcher, ["ssh", ...args], all)).stdout;
  };
  expect(await ssh("ada", "id -un; pwd; echo $HTTPS_PROXY; tty || true")).toMatch(
    /^agent\n\/home\/agent\nhttp:\/\/127\.0\.0\.1:\d+\nnot a tty\n$/,
  );
  expect(await ssh("-u", "root", "ada", "id -un; echo $HOME; ss -tln | grep -c ':22 ' || true")).toBe(
    "root\n/root\n0\n",
  );
  await sleepNow();
  expect(await ssh("-o", "RequestTTY=force", "ada", "tty; echo $TERM")).toContain("/dev/pts/");
  await rm(folder, { recursive: true });
});

async function ask(url: string, cookie = ""): Promise<IncomingMessage> {
  const { host, pathname, search, port } = new URL(url);
  const sent = httpRequest({ port, path: pathname + search, headers: { host, cookie } }).end();
  return ((await once(sent, "response")) as [IncomingMessage])[0];
}

async function textAt(url: string, cookie: string): Promise<string> {
  return String(await buffer(await ask(url, cookie)));
}
