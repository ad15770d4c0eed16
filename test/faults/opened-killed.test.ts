import { mkdir, readdir, readFile } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Berth, type CommandEvent, outputBytes } from "@berth/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { KillableService } from "../support/killable-service.ts";

// An owner's work in the machine, while the server is killed and another one starts.

let service: KillableService;
let berth: Berth;
/** The agent's home folder. */
let home: string;
beforeAll(async () => {
  service = await KillableService.start();
  await service.client.createAgent("ada");
  berth = new Berth({ url: service.client.url, key: service.client.key });
  home = join(service.config.dataFolder, "machines", (await service.running())[0]!);
});
afterAll(() => service[Symbol.asyncDispose]());

async function replaceServer(): Promise<void> {
  await service.killServer();
  await service.startServer();
}

const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}\n`).join("");

test("a command continues without lost or repeated lines", async () => {
  const running = berth
    .agent("ada")
    .commands.stream({ command: "for i in $(seq 1 200); do echo line $i; sleep 0.02; done" });
  let text = "";
  let last: CommandEvent | undefined;
  const reading = (async () => {
    for await (const event of running) {
      text += Buffer.from(outputBytes(event)).toString();
      last = event;
    }
  })();
  await expect.poll(() => text).toContain("line 50\n");
  await replaceServer();
  await reading;
  expect([text, last]).toEqual([lines(200), expect.objectContaining({ type: "command.exited", exitCode: 0 })]);
});

test("terminal input during the restart is read once", { timeout: 120_000 }, async () => {
  const terminal = berth.agent("ada").terminal();
  let text = "";
  const reading = (async () => {
    for await (const event of terminal) text += Buffer.from(outputBytes(event)).toString();
  })();
  terminal.write("stty -echo; echo rea''dy; cat > typed.txt; exit\r");
  await expect.poll(() => text).toContain("ready");
  const replacing = sleep(200).then(replaceServer);
  for (let at = 1; at <= 50; at++) {
    terminal.write(`line ${at}\r`);
    await sleep(20);
  }
  await replacing;
  terminal.write("\x04");
  await reading;
  expect(await readFile(join(home, "typed.txt"), "utf8")).toBe(lines(50));
});

test("an upload is broken off, and the file that was there stays", async () => {
  await mkdir(join(home, "up"));
  await berth.agent("ada").files.write("up/file", "old");
  const { hostname, port } = new URL(service.client.url);
  const headers = { authorization: `Bearer ${service.client.key}`, "content-length": 2_000_000 };
  const sent = httpRequest({ hostname, port, method: "PUT", path: "/agents/ada/files/up/file", headers });
  const broken = new Promise((resolve) => sent.on("error", resolve));
  sent.write(Buffer.alloc(1_000_000, "n"));
  await expect.poll(() => readdir(join(home, "up"))).toHaveLength(2);
  await replaceServer();
  expect(await broken).toBeInstanceOf(Error);
  expect(await (await berth.agent("ada").files.read("up/file")).text()).toBe("old");
  await expect.poll(() => readdir(join(home, "up"))).toEqual(["file"]);
});
