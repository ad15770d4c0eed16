import { execFileSync } from "node:child_process";
import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { FileEntry } from "../../src/contract/files.ts";
import type { TestClient } from "../support/client.ts";
import { callTool, connectMcp } from "../support/mcp-client.ts";
import { authorOf, inside, PeoplesService } from "../support/people.ts";

// The authors of files in an agent's machine: whoever wrote their bytes over the API.

let people: PeoplesService;
/** The owner and a member of one workspace. */
let ada: TestClient;
let bob: TestClient;
let byAda: object;
let byBob: object;

beforeAll(async () => {
  people = await PeoplesService.start();
  const owner = await people.person({ name: "Ada Lövelace" });
  const workspace = await people.newWorkspace(owner);
  ada = inside(owner, workspace);
  bob = await people.join(owner, workspace, "member", { name: "Bob 東京" });
  [byAda, byBob] = [await authorOf(ada, "Ada Lövelace"), await authorOf(bob, "Bob 東京")];
  await ada.createAgent("ada");
});
afterAll(() => people[Symbol.asyncDispose]());

const at = (path: string) => `/agents/ada/files/${path}`;

async function write(client: TestClient, path: string, text = "text"): Promise<void> {
  const { status } = await client.call("PUT", at(path), text, { "content-type": "application/octet-stream" });
  expect(status).toBeLessThan(300);
}

async function run(command: string): Promise<void> {
  expect((await ada.call("POST", "/agents/ada/commands", { command })).body).toMatchObject({ exitCode: 0 });
}

/** The authors of a folder's entries, by their names. */
async function authorsIn(folder: string): Promise<Record<string, unknown>> {
  const { body } = await bob.call("GET", `${at(folder)}?recursive=true&limit=1000`);
  return Object.fromEntries(body.data.map(({ path, createdBy }: FileEntry) => [path, createdBy]));
}

test("a file's author is whoever wrote it, and stays when the file is moved", async () => {
  await write(ada, "written/ada.txt");
  await write(bob, "written/bob.txt");
  await write(ada, "written/both.txt");
  await write(bob, "written/both.txt");
  await bob.call("POST", `${at("written/ada.txt")}?action=move&to=written/moved.txt`);
  await run("mv written/bob.txt written/renamed.txt");
  expect(await authorsIn("written")).toEqual({ "both.txt": byBob, "moved.txt": byAda, "renamed.txt": byBob });
  expect((await ada.call("GET", `${at("written/moved.txt")}?stat=true`)).body.createdBy).toEqual(byAda);
});

test("a copy is by whoever copies, and folders have no author", async () => {
  await write(ada, "copies/source/a.txt");
  const { body } = await bob.call("POST", `${at("copies/source/a.txt")}?action=copy&to=copies/b.txt`);
  expect(body.createdBy).toEqual(byBob);
  await bob.call("POST", `${at("copies/source")}?action=copy&to=copies/folder`);
  await bob.call("POST", `${at("copies/empty")}?action=mkdir`);
  expect(await authorsIn("copies")).toEqual({
    "b.txt": byBob,
    empty: null,
    folder: null,
    "folder/a.txt": null,
    source: null,
    "source/a.txt": byAda,
  });
});

test("a file that the machine changed, replaced or made has no author", async () => {
  for (const name of ["appended", "replaced", "kept"]) await write(ada, `changed/${name}`);
  await run("cd changed; echo more >> appended; rm replaced; echo text > replaced; echo text > made");
  expect(await authorsIn("changed")).toEqual({ appended: null, kept: byAda, made: null, replaced: null });
});

test("the files of an unpacked archive are by whoever unpacked it, up to 1,000 of them", async () => {
  await using local = await mkdtempDisposable(join(tmpdir(), "berth-test-authors-"));
  const unpack = async (folder: string, names: readonly string[]) => {
    for (const name of names) await writeFile(join(local.path, name), name);
    const body = execFileSync("tar", ["-c", "-C", local.path, ...names]);
    const headers = { authorization: `Bearer ${bob.key}`, "berth-workspace": encodeURIComponent(bob.workspace!) };
    const type = { "content-type": "application/x-tar" };
    const url = `${bob.url}${at(folder)}?extract=true`;
    const response = await fetch(url, { method: "PUT", headers: { ...headers, ...type }, body });
    expect(response.status).toBeLessThan(300);
    expect(await response.json()).not.toHaveProperty("unpacked");
    return new Set(Object.values(await authorsIn(folder)).map((author) => JSON.stringify(author)));
  };
  const many = Array.from({ length: 1_000 }, (_, at) => `file-${at}`);
  expect(await unpack("unpacked/few", many.slice(0, 2))).toEqual(new Set([JSON.stringify(byBob)]));
  expect(await unpack("unpacked/few", many.slice(0, 3))).toEqual(new Set([JSON.stringify(byBob)]));
  expect(await unpack("unpacked/most", many)).toEqual(new Set([JSON.stringify(byBob)]));
  expect(await unpack("unpacked/more", [...many, "one-more"])).toEqual(new Set(["null"]));
});

test("a file that an MCP client wrote is by the key", async () => {
  const { body: made } = await bob.call("POST", "/keys", { name: "laptop" });
  const client = await connectMcp({ url: bob.url, key: made.key });
  await callTool(client, "write_file", { agent: "ada", path: "tool/notes.txt", text: "Grüße" });
  await client.close();
  const byKey = { kind: "key", id: made.id, name: "laptop", person: "Bob 東京" };
  expect(await authorsIn("tool")).toEqual({ "notes.txt": byKey });
});
