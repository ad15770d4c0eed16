import { afterAll, beforeAll, expect, test } from "vitest";
import { importArchive } from "../support/archives.ts";
import { messageNumberIn } from "../support/client.ts";
import { VmService } from "../support/vm-service.ts";

// An agent of Claude Code leaves its machine and continues in another one.

let service: VmService;
beforeAll(async () => {
  service = await VmService.start();
});
afterAll(() => service[Symbol.asyncDispose]());

test("an agent continues in a new machine with its conversation and files, and its installed programs are listed", async () => {
  const { client } = service;
  await client.createAgent("ada", { instructions: "Answer briefly." });
  expect(messageNumberIn(await client.ask("ada", "Good morning."))).toBe(1);
  const ada = await service.machineId("ada");
  const files = [
    "mkdir -p 'up/ein Ordner' && echo text > 'up/ein Ordner/Datei – 下書き'",
    "chmod 751 'up/ein Ordner/Datei – 下書き' && ln -s 'ein Ordner/Datei – 下書き' up/link && ln -s /etc/hostname up/out",
    "sudo touch up/of-root && mkfifo up/pipe && sudo mkdir -p /usr/local/lib/node_modules/tool",
    `echo '{"version": "1.2.3"}' | sudo tee /usr/local/lib/node_modules/tool/package.json`,
  ];
  const debian = [
    "mkdir -p /tmp/hi/DEBIAN && cd /tmp",
    "printf 'Package: hi\\nVersion: 2.0-1\\nArchitecture: all\\nMaintainer: a\\nDescription: a\\n' > hi/DEBIAN/control",
    "dpkg-deb --build hi >/dev/null && sudo dpkg -i hi.deb >/dev/null",
  ];
  files.push(...debian);
  const made = await service.exec(ada, files.join(" && "), "agent");
  expect([made.exitCode, made.stderr]).toEqual([0, ""]);

  const response = await client.fetch("GET", "/agents/ada/export");
  const archive = Buffer.from(await response.arrayBuffer());
  const { status, body } = await importArchive(client, archive);
  expect([status, body]).toMatchObject([
    201,
    {
      agent: { name: "eve", status: "ready", instructions: "Answer briefly.", conversation: 1 },
      installed: { apt: [{ name: "hi", version: "2.0-1" }], npm: [{ name: "tool", version: "1.2.3" }] },
    },
  ]);
  const eve = await service.machineId("eve");
  const { stdout } = await service.exec(
    eve,
    "cd ~agent && stat --format '%n %F %a %U' up/* up/*/* && cat up/link up/out",
  );
  expect(stdout.trimEnd().split("\n")).toEqual([
    "up/ein Ordner directory 755 agent",
    "up/link symbolic link 777 agent",
    "up/of-root regular empty file 644 root",
    "up/out symbolic link 777 agent",
    "up/pipe fifo 644 agent",
    "up/ein Ordner/Datei – 下書き regular file 751 agent",
    "text",
    "eve",
  ]);
  expect(messageNumberIn(await client.ask("eve", "And again."))).toBe(2);
  expect((await client.call("GET", "/agents/eve/turns")).body.data).toMatchObject([
    { message: "And again." },
    { message: "Good morning.", status: "completed", usage: { credits: null } },
  ]);
  // Another machine, all the same: its own id and keys.
  const ids = await Promise.all([ada, eve].map((id) => service.exec(id, "cat /etc/machine-id")));
  expect(new Set(ids.map((each) => each.stdout)).size).toBe(2);
});

test("an agent of opencode continues with its conversation", async () => {
  const { client } = service;
  await client.createAgent("bea", { runtime: "opencode", model: "demo/demo" });
  expect(messageNumberIn(await client.ask("bea", "Good morning."))).toBe(1);
  const archive = Buffer.from(await (await client.fetch("GET", "/agents/bea/export")).arrayBuffer());
  const { body } = await importArchive(client, archive, { query: "?name=fay" });
  expect(body.agent).toMatchObject({ name: "fay", runtime: "opencode" });
  expect(messageNumberIn(await client.ask("fay", "And again."))).toBe(2);
});

test("an archive with the disk has an image that needs no other, and its import says that it is not used", async () => {
  const { client } = service;
  const response = await client.fetch("GET", "/agents/ada/export?disk=true");
  let bytes = 0;
  let start = Buffer.alloc(0);
  let image = -1;
  for await (const chunk of response.body!) {
    bytes += chunk.length;
    if (image >= 0) continue;
    start = Buffer.concat([start, chunk]).subarray(-4096 - chunk.length);
    image = start.indexOf("QFI\xfb", 0, "latin1");
  }
  expect(image).toBeGreaterThan(0);
  // The files of the image that are the agent's are in it.
  expect(bytes).toBeGreaterThan(400_000_000);
  expect((await client.call("GET", "/agents/ada")).body.status).toBe("ready");
});
