import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { AgentFiles } from "../support/agent-files.ts";
import type { TestClient } from "../support/client.ts";

// Uploads of files that do not go well.

let files: AgentFiles;
let client: TestClient;
let [home, folder, here] = ["", "", ""];
const at = (path: string) => files.at(path);
const put = (...args: Parameters<AgentFiles["put"]>) => files.put(...args);

beforeAll(async () => {
  files = await AgentFiles.start();
  ({ client, home } = files);
});
afterAll(() => files[Symbol.asyncDispose]());
beforeEach(async () => {
  await files.enterNewFolder();
  ({ folder, here } = files);
});

test("an upload that breaks off leaves the file that was there, and nothing else", async () => {
  await writeFile(join(here, "f"), "before");
  const { hostname, port } = new URL(client.url);
  const headers = { authorization: `Bearer ${client.key}`, "content-length": "1000000" };
  const request = httpRequest({ hostname, port, path: at(`${folder}/f`), method: "PUT", headers });
  request.on("error", () => {});
  request.write(randomBytes(200_000));
  await expect.poll(async () => (await readdir(here)).length).toBe(2);
  request.destroy();
  await expect.poll(() => readdir(here)).toEqual(["f"]);
  expect(await readFile(join(here, "f"), "utf8")).toBe("before");
});

test("an upload whose machine is lost leaves nothing behind once the next one begins", async () => {
  await client.createAgent("bea");
  const id = files.service.driver.running.find((each) => !home.endsWith(each))!;
  const hers = join(files.service.config.dataFolder, "machines", id);
  const path = `${client.url}/agents/bea/files/f`;
  const headers = { authorization: `Bearer ${client.key}` };
  const body = new ReadableStream({ start: (controller) => controller.enqueue(randomBytes(100_000)) });
  const sent = fetch(path, { method: "PUT", headers, body, duplex: "half" } as RequestInit);
  const unfinished = async () => (await readdir(hers)).filter((name) => name.startsWith(".berth-upload-"));
  await expect.poll(async () => (await unfinished()).length).toBe(1);
  files.service.driver.disconnect(id);
  expect((await sent).status).toBe(500);
  await expect.poll(unfinished).toEqual([]);
  expect(existsSync(join(hers, "f"))).toBe(false);
});

test("an upload goes no faster than the machine writes", async () => {
  const mebibyte = 1024 * 1024;
  let pulled = 0;
  const body = new ReadableStream({
    pull(controller) {
      if (pulled === 200) return controller.close();
      pulled += 1;
      controller.enqueue(new Uint8Array(mebibyte));
    },
  });
  const sent = put(`${folder}/big`, body);
  let ahead = 0;
  let isOver = false;
  void sent.then(() => {
    isOver = true;
  });
  while (!isOver) {
    const taken = pulled;
    const [name] = await readdir(here);
    const written = name ? ((await stat(join(here, name)).catch(() => null))?.size ?? taken * mebibyte) : 0;
    ahead = Math.max(ahead, taken - written / mebibyte);
  }
  expect((await sent).body.size).toBe(200 * mebibyte);
  expect(ahead).toBeLessThan(40);
});
