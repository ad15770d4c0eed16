import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { bytesBeforeDownload } from "../../src/contract/guest.ts";
import { AgentFiles } from "../support/agent-files.ts";
import { movers } from "../support/splice-program.ts";

// Uploads that go past the runner: the real runner and program there, the real server.

const sent = randomBytes(3 * bytesBeforeDownload);
const moving = async () => (await movers()).length;

let files: AgentFiles;
let [folder, here] = ["", ""];

beforeAll(async () => {
  files = await AgentFiles.start();
});
afterAll(() => files[Symbol.asyncDispose]());
beforeEach(async () => {
  await files.enterNewFolder();
  ({ folder, here } = files);
  await writeFile(join(here, "f"), "before");
});

/** Sends more than the first bytes of an upload, and waits until the rest is being moved. */
async function halfWay(headers = {}) {
  const { hostname, port } = new URL(files.client.url);
  const request = httpRequest({
    ...{ hostname, port, path: files.at(`${folder}/f`), method: "PUT" },
    headers: { authorization: `Bearer ${files.client.key}`, ...headers },
  });
  const answered = once(request, "response").then(async ([response]) => ({
    status: response.statusCode as number,
    body: JSON.parse(Buffer.concat(await response.toArray()).toString()),
  }));
  answered.catch(() => {});
  request.write(sent);
  await expect.poll(moving).toBe(1);
  return { request, answered };
}

async function expectUnchanged(): Promise<void> {
  await expect.poll(moving).toBe(0);
  await expect.poll(() => readdir(here)).toEqual(["f"]);
  expect(await readFile(join(here, "f"), "utf8")).toBe("before");
}

test("a large upload goes past the runner and arrives complete", async () => {
  const { request, answered } = await halfWay();
  request.end(sent);
  const { status, body } = await answered;
  const whole = Buffer.concat([sent, sent]);
  const sha256 = createHash("sha256").update(whole).digest("hex");
  expect(status).toBe(200);
  expect(body).toMatchObject({ size: whole.length, sha256, created: false });
  expect((await readFile(join(here, "f"))).equals(whole)).toBe(true);
  expect((await files.get(`${folder}/f`)).headers.get("etag")).toBe(body.etag);
  await expect.poll(moving).toBe(0);
  expect(await readdir(here)).toEqual(["f"]);
});

test("cancelling a large upload leaves the previous file", async () => {
  const { request } = await halfWay();
  request.on("error", () => {}).destroy();
  await expectUnchanged();
});

test("losing the program that moves an upload fails the upload", async () => {
  const { request, answered } = await halfWay();
  process.kill((await movers())[0]!, "SIGKILL");
  request.end(sent);
  expect(await answered).toMatchObject({ status: 500, body: { code: "machine_failed" } });
  await expectUnchanged();
});

test("a file that changes during a large upload fails its If-Match", async () => {
  const etag = (await files.get(`${folder}/f`)).headers.get("etag")!;
  const { request, answered } = await halfWay({ "if-match": etag });
  await writeFile(join(here, "f"), "changed");
  request.end(sent);
  expect(await answered).toMatchObject({ status: 412, body: { code: "precondition_failed" } });
  await expect.poll(() => readdir(here)).toEqual(["f"]);
  expect(await readFile(join(here, "f"), "utf8")).toBe("changed");
});

test("more large uploads than a machine moves at once arrive complete", async () => {
  const names = Array.from({ length: 20 }, (_, at) => `f${at}`);
  const answers = await Promise.all(names.map((name) => files.put(`${folder}/${name}`, sent)));
  expect(answers.map(({ status }) => status)).toEqual(names.map(() => 201));
  const all = await Promise.all(names.map((name) => readFile(join(here, name))));
  expect(all.every((bytes) => bytes.equals(sent))).toBe(true);
});

test("a server that accepts no download gets only the result", async () => {
  const { server, driver } = files.service;
  const guest = await server.machines.guest(driver.running[0]!);
  const request = { path: `${folder}/g`, user: "agent", mode: null, ifMatch: null, ifNoneMatch: false } as const;
  const stream = await guest.writeFile(request);
  stream.end(Buffer.from([0, 0, 0, 1, 0x78, 0, 0, 0, 0]));
  const lines = Buffer.concat(await stream.toArray())
    .toString()
    .trimEnd()
    .split("\n");
  expect(lines.map((line) => JSON.parse(line))).toEqual([expect.objectContaining({ created: true })]);
  expect((await stat(join(here, "g"))).size).toBe(1);
});
