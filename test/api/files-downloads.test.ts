import { execFileSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { AgentFiles, codeOf } from "../support/agent-files.ts";
import type { TestClient } from "../support/client.ts";

// Files that a browser downloads, with a ticket in place of a key.

let files: AgentFiles;
let client: TestClient;
let [folder, here] = ["", ""];
const at = (path: string) => files.at(path);

beforeAll(async () => {
  files = await AgentFiles.start();
  ({ client } = files);
});
afterAll(() => files[Symbol.asyncDispose]());
beforeEach(async () => {
  await files.enterNewFolder();
  ({ folder, here } = files);
});

async function ticketFor(path: string): Promise<string> {
  const { status, body } = await client.call("POST", "/agents/ada/tickets", { for: "file", path });
  expect([status, body.url]).toEqual([201, null]);
  return body.ticket;
}
/** As a browser follows a link: with no key. */
const follow = (path: string, query: Record<string, string>) =>
  fetch(`${client.url}${at(path)}?${new URLSearchParams(query)}`);

test("a ticket downloads the one file, once", async () => {
  await writeFile(join(here, "käse (it's*).html"), "<script>alert(1)</script>");
  const path = `${folder}/käse (it's*).html`;
  const ticket = await ticketFor(path);
  const answer = await follow(path, { ticket });
  expect(await answer.text()).toBe("<script>alert(1)</script>");
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    "content-disposition": "attachment; filename*=UTF-8''k%C3%A4se%20%28it%27s%2A%29.html",
    // No page could run it as a script, either.
    "content-type": "application/octet-stream",
    "content-security-policy": expect.stringContaining("default-src 'none'"),
    "x-content-type-options": "nosniff",
  });
  expect(await codeOf(follow(path, { ticket }))).toEqual([401, "credentials_invalid"]);
});

test("a folder is downloaded as an archive with its name", async () => {
  await mkdir(join(here, "in"));
  await writeFile(join(here, "in/f"), "content");
  const path = `${folder}/in`;
  const answer = await follow(path, { ticket: await ticketFor(path), archive: "tar.gz" });
  expect(answer.headers.get("content-disposition")).toBe("attachment; filename*=UTF-8''in.tar.gz");
  const list = execFileSync("tar", ["-tzf", "-"], { input: new Uint8Array(await answer.arrayBuffer()) });
  expect(String(list)).toContain("f\n");
});

test("a ticket opens nothing else: no other file, no other rights, no other agent, no other method", async () => {
  await client.createAgent("bea");
  for (const name of ["a", "b"]) await writeFile(join(here, name), name);
  const path = `${folder}/a`;
  expect(await codeOf(follow(`${folder}/b`, { ticket: await ticketFor(path) }))).toEqual([403, "forbidden"]);
  expect(await codeOf(follow(path, { ticket: await ticketFor(path), user: "root" }))).toEqual([403, "forbidden"]);
  const query = async () => `?ticket=${await ticketFor(path)}`;
  const ofBea = at(path).replace("/ada/", "/bea/");
  expect(await codeOf(fetch(client.url + ofBea + (await query())))).toEqual([403, "forbidden"]);
  const removal = fetch(client.url + at(path) + (await query()), { method: "DELETE" });
  expect((await codeOf(removal))[0]).toBeGreaterThanOrEqual(400);
  expect((await fetch(`${client.url}/agents/ada${await query()}`)).status).toBeGreaterThanOrEqual(400);
  expect(await readFile(join(here, "a"), "utf8")).toBe("a");
});

test("a ticket for something else downloads nothing, and none is made for a path that cannot be", async () => {
  await writeFile(join(here, "a"), "a");
  const { body } = await client.call("POST", "/agents/ada/tickets", { for: "terminal" });
  expect(await codeOf(follow(`${folder}/a`, { ticket: body.ticket }))).toEqual([401, "credentials_invalid"]);
  for (const path of ["\0", 1, undefined]) {
    expect((await client.call("POST", "/agents/ada/tickets", { for: "file", path })).status).toBe(400);
  }
});
