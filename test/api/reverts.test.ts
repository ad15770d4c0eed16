import { chmod, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// Taking back what turns changed in files, in scripted machines.

let service: ScriptedService;
let client: TestClient;
let home: string;

beforeEach(async () => {
  service = await ScriptedService.start();
  client = service.client;
  await client.createAgent("ada");
  home = await service.home();
});
afterEach(() => service[Symbol.asyncDispose]());

const write = async (text: string): Promise<string> => (await client.chat("ada", `write ${text}`)).turnId;
const revert = (turn: string, files: string[], to?: string) =>
  client.call("POST", `/agents/ada/turns/${turn}/changes/revert`, { files, ...(to && { to }) });
const text = (name: string) => readFile(join(home, name), "utf8").catch(() => null);
const numbers = Array.from({ length: 20 }, (_, line) => String(line));

test("a changed file gets its lines back, keeps later changes elsewhere, its mode and its author", async () => {
  await write(`src/a.txt ${numbers.join("\n")}`);
  await chmod(join(home, "src/a.txt"), 0o750);
  const turn = await write(`src/a.txt ${numbers.with(3, "three").join("\n")}`);
  await chmod(join(home, "src/a.txt"), 0o750);
  await writeFile(join(home, "src/a.txt"), `${["new", ...numbers].with(4, "three").with(20, "end").join("\n")}\n`);
  expect(await revert(turn, ["src/a.txt", "src/a.txt"])).toMatchObject({
    status: 200,
    body: { files: [{ name: "src/a.txt", change: "changed" }] },
  });
  expect(await text("src/a.txt")).toBe(`${["new", ...numbers].with(20, "end").join("\n")}\n`);
  expect((await stat(join(home, "src/a.txt"))).mode & 0o777).toBe(0o750);
  const { body } = await client.call("GET", "/agents/ada/files/src/a.txt?stat=true");
  expect(body.createdBy).toMatchObject({ kind: expect.any(String) });
  expect(await readdir(join(home, "src"))).toEqual(["a.txt"]);
});

test("a created file is deleted, a deleted one comes back, and both reverts can be undone", async () => {
  const created = await write("notes/a.txt one");
  const deleted = await write("notes/a.txt");
  expect((await revert(deleted, ["notes/a.txt"])).body).toEqual({
    files: [{ name: "notes/a.txt", change: "created" }],
  });
  expect(await text("notes/a.txt")).toBe("one\n");
  expect((await revert(created, ["notes/a.txt"])).body).toEqual({
    files: [{ name: "notes/a.txt", change: "deleted" }],
  });
  expect(await text("notes/a.txt")).toBeNull();
  expect((await revert(created, ["notes/a.txt"], "after")).status).toBe(200);
  expect(await text("notes/a.txt")).toBe("one\n");
  expect((await revert(deleted, ["notes/a.txt"], "after")).status).toBe(200);
  expect(await text("notes/a.txt")).toBeNull();
});

test("an empty file that was created is deleted, unless something was written to it", async () => {
  const { turnId } = await client.chat("ada", "writes a b");
  await writeFile(join(home, "b"), "mine");
  expect(await revert(turnId, ["a"])).toMatchObject({ status: 200 });
  expect(await revert(turnId, ["b"])).toMatchObject({ status: 409, body: { code: "file_changed" } });
  expect(await readdir(home)).toContain("b");
  expect(await text("a")).toBeNull();
});

test("of several files none is changed if one does not fit, and the answer names it", async () => {
  const { turnId } = await client.chat("ada", "writes a b c d");
  await writeFile(join(home, "b"), "mine\n");
  await rm(join(home, "d"));
  expect(await revert(turnId, ["a", "b", "c", "d"])).toMatchObject({
    status: 409,
    body: {
      code: "file_changed",
      message: expect.stringMatching(/^b has other changes .* Nothing was changed\.$/),
      details: { files: ["b", "d"], changed: [] },
    },
  });
  expect(await Promise.all(["a", "b", "c", "d"].map(text))).toEqual(["", "mine\n", "", null]);
  expect(await revert(turnId, ["a", "nope"])).toMatchObject({
    status: 404,
    body: { code: "file_not_found", message: "The turn did not change nope.", details: { files: ["nope"] } },
  });
  expect(await text("a")).toBe("");
});

test("a file whose lines were changed again is not reverted", async () => {
  await write("a.txt one");
  const turn = await write("a.txt two");
  await writeFile(join(home, "a.txt"), "three\n");
  expect(await revert(turn, ["a.txt"])).toMatchObject({ status: 409, body: { code: "file_changed" } });
  await writeFile(join(home, "a.txt"), Buffer.from([0xff, 0xfe]));
  expect(await revert(turn, ["a.txt"])).toMatchObject({ status: 409, body: { code: "file_changed" } });
  await writeFile(join(home, "a.txt"), "x".repeat(5 * 1024 * 1024));
  expect((await revert(turn, ["a.txt"])).body.message).toContain("exceeds 4 MiB");
  await rm(join(home, "a.txt"));
  await mkdir(join(home, "a.txt"));
  expect(await revert(turn, ["a.txt"])).toMatchObject({ status: 409, body: { code: "file_not_regular" } });
});

test("links in the place of the file or of its folders are not followed", async () => {
  const outside = join(home, ".cache");
  await mkdir(outside, { recursive: true });
  const created = await write("sub/a.txt one");
  await rename(join(home, "sub/a.txt"), join(outside, "a.txt"));
  await symlink(join(outside, "a.txt"), join(home, "sub/a.txt"));
  expect(await revert(created, ["sub/a.txt"])).toMatchObject({
    status: 409,
    body: { code: "file_not_regular", message: expect.stringContaining("This is a link: sub/a.txt") },
  });
  await rm(join(home, "sub"), { recursive: true });
  await symlink(outside, join(home, "sub"));
  expect((await revert(created, ["sub/a.txt"])).body).toMatchObject({ code: "file_not_regular" });
  expect(await readdir(outside)).toEqual(["a.txt"]);
});

test("a file without a diff, and one that is not UTF-8, are refused", async () => {
  await writeFile(join(home, "a.bin"), Buffer.from([0x89, 0, 1]));
  const binary = await write("a.bin text");
  expect(await revert(binary, ["a.bin"])).toMatchObject({
    status: 409,
    body: { code: "diff_unknown", details: { files: ["a.bin"] } },
  });
  await writeFile(join(home, "latin.txt"), Buffer.from([0xe9, 0x0a]));
  await write("other.txt x");
  const latin = await write("latin.txt utf8");
  expect(await revert(latin, ["latin.txt"])).toMatchObject({ status: 409, body: { code: "diff_unknown" } });
  expect(await text("latin.txt")).toBe("utf8\n");
});

test("nothing is reverted while a turn runs, and nothing of a turn that was rolled back", async () => {
  await client.call("PATCH", "/agents/ada", { autoSnapshot: 2 });
  const turn = await write("a.txt one");
  const stream = await client.fetch("POST", "/agents/ada/chat", { message: "hang" });
  const id = stream.headers.get("x-turn-id")!;
  const refused = { status: 409, body: { code: "turn_in_progress", details: { turnId: id } } };
  expect(await revert(turn, ["a.txt"])).toMatchObject(refused);
  expect(await revert(id, ["a.txt"])).toMatchObject(refused);
  await client.call("POST", `/agents/ada/turns/${id}/cancel`);
  await stream.text();
  await client.call("POST", `/agents/ada/turns/${turn}/restore?wait=ready`, {});
  expect(await revert(turn, ["a.txt"])).toMatchObject({ status: 409, body: { code: "rolled_back" } });
});

test.each([
  [{}, "files"],
  [{ files: [] }, "at least one file"],
  [{ files: [""] }, "must not be empty"],
  [{ files: Array.from({ length: 101 }, (_, at) => `${at}`) }, "up to 100 files"],
  [{ files: ["a"], to: "now" }, "to"],
  [{ files: ["a"], force: true }, "force"],
])("an invalid request says what is allowed: %j", async (body, message) => {
  const turn = await write("a one");
  const refused = await client.call("POST", `/agents/ada/turns/${turn}/changes/revert`, body);
  expect(refused).toMatchObject({ status: 400, body: { code: "request_invalid" } });
  expect(refused.body.message).toContain(message);
  expect(await text("a")).toBe("one\n");
});
