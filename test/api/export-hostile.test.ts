import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type ArchiveChanges,
  archiveWith,
  extended,
  home,
  importArchive,
  line,
  type TarEntry,
  tarOf,
} from "../support/archives.ts";
import type { TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// Archives that are broken, cut, hostile or not fit: each gets an error that says why, and leaves nothing.

let service: ScriptedService;
let client: TestClient;

beforeAll(async () => {
  service = await ScriptedService.start();
  client = service.client;
  await client.createAgent("ada");
});
afterAll(() => service[Symbol.asyncDispose]());

const imported = (
  archive: Buffer | ReadableStream,
  options: { query?: string; headers?: Record<string, string> } = {},
) => importArchive(client, archive, options);

const names = async () => (await client.call("GET", "/agents")).body.data.map(({ name }: { name: string }) => name);
const received = () => readdir(join(service.config.dataFolder, "imports")).catch(() => []);

/** The remaining state after an import was refused. */
async function expectNothingLeft(): Promise<void> {
  expect(await names()).toEqual(["ada"]);
  expect(await received()).toEqual([]);
  expect(service.driver.running.length).toBe(1);
}

test("an archive that was cut anywhere, or changed in any bit, is refused and leaves nothing", async () => {
  const archive = await archiveWith({ home: [...home, { path: "./file", content: randomBytes(3_000) }] });
  for (let size = 0; size < archive.length; size += 211) {
    const { status, body } = await imported(archive.subarray(0, size));
    expect([size, status, body.code]).toEqual([size, 400, "archive_invalid"]);
  }
  for (let at = 3; at < archive.length; at += 97) {
    const changed = Buffer.from(archive);
    changed[at]! ^= 1 << (at % 8);
    const { status, body } = await imported(changed);
    expect([at, status, body.code]).toEqual([at, 400, expect.stringMatching(/^archive_/)]);
  }
  await expectNothingLeft();
});

const inHome = (...entries: TarEntry[]): ArchiveChanges => ({ home: [...home, ...entries] });
/** The tar with the largest number of twelve bytes in its first header's field, whose checksum is right. */
function withNumber(tar: Buffer, at: number): Buffer {
  tar.fill(0x7f, at, at + 12)[at] = 0x80;
  tar.fill(" ", 148, 156);
  const sum = tar.subarray(0, 512).reduce((all, byte) => all + byte, 0);
  tar.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return tar;
}

const hostile: [string, ArchiveChanges, RegExp][] = [
  ["a path that leads out", inHome({ path: "./../../etc/passwd" }), /leads out of its folder/],
  ["an absolute path", inHome({ path: "/etc/passwd" }), /absolute path/],
  [
    "an absolute path in an extended header",
    inHome(extended({ path: "/etc/passwd" }), { path: "./a" }),
    /absolute path/,
  ],
  ["a path that leads out, with a line in it", inHome(extended({ path: "a\n/../../b" }), { path: "./a" }), /leads out/],
  ["a hard link that leads out", inHome({ path: "./a", type: "Link", linkpath: "../../etc/shadow" }), /leads out/],
  ["an absolute hard link", inHome({ path: "./a", type: "Link", linkpath: "/etc/shadow" }), /absolute path/],
  ["a device", inHome({ path: "./sda", type: "BlockDevice", devmaj: 8, devmin: 0 }), /neither a file/],
  [
    "a file through a link",
    inHome({ path: "./a", type: "SymbolicLink", linkpath: "/etc" }, { path: "./a/passwd", content: "x" }),
    /does not come after its folder/,
  ],
  ["a name that comes twice", inHome({ path: "./a" }, { path: "./a" }), /comes twice/],
  ["a file in no folder", inHome({ path: "./a/b" }), /does not come after its folder/],
  ["an impossible size", inHome({ path: "./a", size: 2 ** 40 }), /impossible size/],
  [
    "an impossible size in an extended header",
    inHome(extended({ size: "9".repeat(15) }), { path: "./a" }),
    /impossible/,
  ],
  ["a negative size", inHome(extended({ size: "-1" }), { path: "./a" }), /impossible size/],
  ["a folder with content", inHome({ path: "./a", type: "Directory", size: 512, content: "x".repeat(512) }), /damaged/],
  ["holes in another format", inHome(extended({ "GNU.sparse.major": "2" }), { path: "./a" }), /holes/],
  ["holes in an older format", inHome(extended({ "GNU.sparse.map": "0,1" }), { path: "./a" }), /holes/],
  [
    "a file with holes that leads out",
    inHome(extended({ "GNU.sparse.major": "1", "GNU.sparse.name": "../../a" }), { path: "./a" }),
    /leads out/,
  ],
  [
    "a damaged extended header",
    inHome({ path: "x", type: "ExtendedHeader", content: "9999 path=a\n" }, { path: "./a" }),
    /damaged/,
  ],
  [
    "a home that continues after its end",
    { home: Buffer.concat([tarOf(home), tarOf(home)]) },
    /continues after its end/,
  ],
  ["a home that is cut off", { home: tarOf(home).subarray(0, 1024) }, /cut off/],
  ["a number that is none", { home: withNumber(tarOf(home), 124) }, /damaged/],
  ["a time that is none", { home: withNumber(tarOf(home), 136) }, /damaged/],
  ["no home", { home: Buffer.alloc(0) }, /cut off/],
  ["a home that is none", { home: Buffer.alloc(4096, "x") }, /no tar archive/],
  ["a folder in the state", { state: home }, /no plain file/],
  ["a state that leads out", { state: [{ path: "../../root/.ssh/authorized_keys" }] }, /leads out/],
  ["a state in a folder", { state: [{ path: "turns/x" }] }, /is in a folder/],
  ["settings that are none", { parts: { "settings.json": [Buffer.from("[]")] } }, /settings.json/],
  ["settings that are not JSON", { parts: { "settings.json": [Buffer.from("{")] } }, /not JSON/],
  ["settings that are too large", { parts: { "settings.json": [Buffer.alloc(9_000_000, " ")] } }, /more than/],
  [
    "a machine that is too large",
    { settings: { resources: { cpus: 2, memoryMiB: 2 ** 40, diskGiB: 10 } } },
    /resources/,
  ],
  ["a server with credentials", { settings: { mcpServers: { a: { url: "https://a:b@example.com" } } } }, /mcpServers/],
  ["a network rule that is none", { settings: { network: { allow: ["://"], deny: [] } } }, /network/],
  [
    "a package that is a command",
    { manifest: { installed: { apt: [{ name: "a;reboot", version: "1" }], npm: [] } } },
    /installed/,
  ],
  [
    "a package that is an option",
    { manifest: { installed: { apt: [], npm: [{ name: "--force", version: "1" }] } } },
    /installed/,
  ],
  ["a secret that is a command", { settings: { secrets: [{ name: "$(reboot)", hosts: [], headers: [] }] } }, /secrets/],
  ["another manifest", { manifest: { format: "zip" } }, /not the manifest/],
  ["a manifest without an agent", { manifest: { agent: 7 } }, /agent/],
  ["a line that is none", { transcript: ["{"] }, /line 1 of the transcript/],
  ["a conversation of no number", { transcript: [{ ...line, conversation: 2 ** 40 }] }, /line 1 of the transcript/],
  ["a manifest of a conversation of no number", { manifest: { conversation: 2 ** 40 } }, /conversation/],
  ["a line of another kind", { transcript: [line, { type: "deed" }] }, /line 2 of the transcript/],
  ["a turn of no time", { transcript: [{ ...line, createdAt: "yesterday" }] }, /line 1 of the transcript/],
  ["bytes that are no UTF-8", { parts: { "transcript.jsonl": [Buffer.from([0x22, 0xff, 0x22, 0x0a])] } }, /line 1/],
  ["a line without an end", { parts: { "transcript.jsonl": [Buffer.alloc(17 * 1024 * 1024, "x")] } }, /too long/],
];

test.each(hostile)("an archive with %s is refused and leaves nothing", async (_case, changes, text) => {
  const { status, body } = await imported(await archiveWith(changes));
  expect([status, body]).toEqual([
    400,
    expect.objectContaining({ code: "archive_invalid", message: expect.stringMatching(text) }),
  ]);
  await expectNothingLeft();
});

test("an archive with entries that are missing, too many, of another kind or in another order is refused", async () => {
  const whole = await archiveWith();
  const entry = (fields: TarEntry) => tarOf([fields]).subarray(0, -1024);
  const first = entry({ path: "berth.json", content: "{}" });
  for (const archive of [
    Buffer.from("not a tar"),
    Buffer.alloc(10_240),
    tarOf([]),
    Buffer.concat([first, whole]),
    Buffer.concat([entry({ path: "../berth.json" }), whole]),
    Buffer.concat([entry({ path: "berth.json", type: "SymbolicLink", linkpath: "/etc/passwd" }), whole]),
    Buffer.concat([withNumber(entry({ path: "berth.json" }), 124), whole]),
    Buffer.concat([whole, whole]),
    Buffer.concat([whole, Buffer.alloc(8 * 1024 * 1024)]),
    Buffer.concat([whole.subarray(0, -1024), first, Buffer.alloc(1024)]),
  ]) {
    const { status, body } = await imported(archive);
    expect([status, body.code]).toEqual([400, "archive_invalid"]);
  }
  await expectNothingLeft();
});

test("an archive of a newer Berth has an error of its own, and leaves nothing", async () => {
  const { status, body } = await imported(await archiveWith({ manifest: { version: 2, format: "berth-agent" } }));
  expect([status, body.code, body.message]).toEqual([400, "archive_unsupported", expect.stringContaining("version 2")]);
  await expectNothingLeft();
});

test("what an import needs is asked before the archive is read to its end", async () => {
  const archive = await archiveWith({ home: [...home, { path: "./file", content: randomBytes(1_000_000) }] });
  expect((await imported(archive, { query: "?name=ada" })).body.code).toBe("agent_exists");
  expect((await imported(archive, { query: "?name=Ada" })).body.code).toBe("request_invalid");
  expect((await imported(archive, { query: "?name=eve&model=none/none" })).body.code).toBe("model_not_available");
  const foreign = await archiveWith({ manifest: { runtime: { name: "other", version: null } } });
  expect((await imported(foreign)).body.code).toBe("runtime_not_available");
  const nameless = await archiveWith({ manifest: { agent: "-" } });
  expect((await imported(nameless, { query: "" })).body.code).toBe("archive_invalid");
  await expectNothingLeft();
});

test("an upload that breaks off leaves nothing", async () => {
  const archive = await archiveWith({ home: [...home, { path: "./file", content: randomBytes(1_000_000) }] });
  async function* half() {
    yield archive.subarray(0, 500_000);
    while ((await received()).length === 0) await setTimeout(10);
    throw new Error("gone");
  }
  await expect(imported(ReadableStream.from(half()) as ReadableStream)).rejects.toThrow();
  await expect.poll(received).toEqual([]);
  await expectNothingLeft();
});
