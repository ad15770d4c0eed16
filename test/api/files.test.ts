import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, open, readdir, readFile, readlink, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { FileEvent } from "../../src/contract/files.ts";
import { AgentFiles, codeOf } from "../support/agent-files.ts";
import type { TestClient } from "../support/client.ts";

// Files over HTTP: written, read, listed, changed and watched.

let files: AgentFiles;
let client: TestClient;
let [home, folder, here, there] = ["", "", "", ""];
const at = (path: string) => files.at(path);
const get = (path: string, headers = {}) => files.get(path, headers);
const put = (...args: Parameters<AgentFiles["put"]>) => files.put(...args);

beforeAll(async () => {
  files = await AgentFiles.start();
  ({ client, home } = files);
});
afterAll(() => files[Symbol.asyncDispose]());
beforeEach(async () => {
  await files.enterNewFolder();
  ({ folder, here, there } = files);
});

test("a file is written whole, and read again with its headers", async () => {
  const bytes = randomBytes(3_000_000);
  const written = await put(`${folder}/deep/er/data.json`, bytes);
  expect(written).toMatchObject({
    status: 201,
    body: {
      path: `${there}/deep/er/data.json`,
      size: bytes.length,
      sha256: createHash("sha256").update(bytes).digest("hex"),
      created: true,
    },
  });
  const read = await get(`${folder}/deep/er/data.json`);
  expect(Buffer.from(await read.arrayBuffer()).equals(bytes)).toBe(true);
  expect(Object.fromEntries(read.headers)).toMatchObject({
    etag: written.body.etag,
    "content-type": "application/json",
    "content-length": String(bytes.length),
    "accept-ranges": "bytes",
    "x-content-type-options": "nosniff",
    "content-disposition": expect.stringMatching(/^attachment/),
    "content-security-policy": expect.stringContaining("default-src 'none'"),
  });
  expect(await readdir(join(here, "deep/er"))).toEqual(["data.json"]);
});

test("HEAD answers the headers alone", async () => {
  await writeFile(join(here, "a.html"), "<script>");
  const head = await client.fetch("HEAD", at(`${folder}/a.html`));
  expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([200, "8", ""]);
});

test.each(["/proc/self/limits", "/proc/cpuinfo", "/sys/kernel/mm/transparent_hugepage/enabled"])(
  "%s is read and copied to its end, whatever size the kernel reports",
  async (path) => {
    const own = await readFile(path.replace("self", String(process.pid)), "utf8");
    const answer = await get(path);
    const text = await answer.text();
    expect([answer.status, text.split("\n")[0]]).toEqual([200, own.split("\n")[0]]);
    expect([null, String(text.length)]).toContain(answer.headers.get("content-length"));
    expect((await client.fetch("HEAD", at(path))).headers.get("content-length")).toBe(null);
    expect((await get(path, { range: "bytes=0-3" })).status).toBe(200);
    expect((await get(path, { "if-none-match": answer.headers.get("etag")! })).status).toBe(200);
    const to = encodeURIComponent(`${folder}/copy`);
    expect((await client.call("POST", `${at(path)}?action=copy&to=${to}`)).status).toBe(200);
    expect((await readFile(join(here, "copy"), "utf8")).split("\n")[0]).toBe(own.split("\n")[0]);
  },
);

async function isOpen(path: string): Promise<boolean> {
  const descriptors = await readdir("/proc/self/fd");
  const files = await Promise.all(descriptors.map((each) => readlink(`/proc/self/fd/${each}`).catch(() => "")));
  return files.includes(path);
}

test("an empty file and a small file of holes are read whole, and closed", async () => {
  await writeFile(join(here, "empty"), "");
  await writeFile(join(here, "hole"), "");
  await truncate(join(here, "hole"), 5_000);
  expect(await (await get(`${folder}/empty`)).text()).toBe("");
  // The guest runs in this process. Node closes a forgotten descriptor later, and warns.
  const warnings: string[] = [];
  const warned = ({ message }: Error) => void warnings.push(message);
  process.on("warning", warned);
  await expect.poll(() => isOpen(join(here, "empty"))).toBe(false);
  await setImmediate();
  process.off("warning", warned);
  expect(warnings).toEqual([]);
  expect((await (await get(`${folder}/hole`)).arrayBuffer()).byteLength).toBe(5_000);
  expect((await get(`${folder}/empty`)).headers.get("etag")).toMatch(/^"/);
});

test("a file that was there keeps its mode, and answers 200", async () => {
  await writeFile(join(here, "run.sh"), "old", { mode: 0o750 });
  expect((await put(`${folder}/run.sh`, "new")).status).toBe(200);
  expect((await stat(join(here, "run.sh"))).mode & 0o7777).toBe(0o750);
  await put(`${folder}/run.sh`, "", {}, "?mode=0700");
  expect((await stat(join(here, "run.sh"))).mode & 0o7777).toBe(0o700);
  expect(await readFile(join(here, "run.sh"), "utf8")).toBe("");
});

test.each(["a b", "100%", "%2F", ".hidden", "käse", "?#&+;", "日本", "a\\b", "new\nline", "-rf", "..."])(
  "the name %j is any other",
  async (name) => {
    expect((await put(`${folder}/${name}`, name)).status).toBe(201);
    expect(await readdir(here)).toEqual([name]);
    expect(await (await get(`${folder}/${name}`)).text()).toBe(name);
    const { body } = await client.call("GET", at(folder));
    expect(body.data[0]).toMatchObject({ name, type: "file" });
    expect((await client.call("DELETE", at(`${folder}/${name}`))).status).toBe(204);
    expect(await readdir(here)).toEqual([]);
  },
);

/** Sends a path as it is, which `fetch` would tidy. */
function raw(path: string, method = "GET"): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(client.url);
    const headers = { authorization: `Bearer ${client.key}` };
    const request = httpRequest({ hostname, port, path, method, headers }, async (response) => {
      const body = Buffer.concat(await Array.fromAsync(response)).toString();
      resolve({ status: response.statusCode!, body });
    });
    request.on("error", reject).end();
  });
}

test("paths are absolute or from the home folder, decoded once, and `..` is resolved", async () => {
  await writeFile(join(here, "x"), "here");
  await writeFile(join(here, "a%2Fb"), "percent");
  const files = "/agents/ada/files/";
  for (const path of [
    `${folder}/x`,
    `${there}/x`,
    `${folder}/../${folder}/./x`,
    `%2E%2e/${home.split("/").at(-1)}/${folder}/x`,
  ]) {
    expect([path, await raw(files + path)]).toEqual([path, { status: 200, body: "here" }]);
  }
  expect(await raw(`${files}${encodeURIComponent(there)}%2Fx`)).toEqual({ status: 200, body: "here" });
  expect(await raw(`${files}${"../".repeat(40)}${there.slice(1)}/x`)).toEqual({ status: 200, body: "here" });
  expect(await raw(`${files}${folder}/a%252Fb`)).toEqual({ status: 200, body: "percent" });
  expect(await raw(`${files}${folder}/%00`)).toMatchObject({ status: 400 });
  expect(await raw(`${files}${folder}/%ff`)).toMatchObject({ status: 400 });
  expect(await raw(`${files}${folder}/${"n".repeat(300)}`)).toMatchObject({ status: 400 });
  expect(await raw(`${files}${`${"d".repeat(100)}/`.repeat(60)}`)).toMatchObject({ status: 400 });
});

test("ranges, and what has not changed", async () => {
  await writeFile(join(here, "f"), "0123456789");
  const whole = await get(`${folder}/f`);
  const etag = whole.headers.get("etag")!;
  await whole.text();
  const ranged = async (range: string, more = {}) => {
    const answer = await get(`${folder}/f`, { range, ...more });
    return [answer.status, answer.headers.get("content-range"), await answer.text()];
  };
  expect(await ranged("bytes=2-4")).toEqual([206, "bytes 2-4/10", "234"]);
  expect(await ranged("bytes=7-")).toEqual([206, "bytes 7-9/10", "789"]);
  expect(await ranged("bytes=-3")).toEqual([206, "bytes 7-9/10", "789"]);
  expect(await ranged("bytes=5-500")).toEqual([206, "bytes 5-9/10", "56789"]);
  expect(await ranged("bytes=0-1,4-5")).toEqual([200, null, "0123456789"]);
  expect(await ranged("bytes=2-4", { "if-range": etag })).toEqual([206, "bytes 2-4/10", "234"]);
  expect(await ranged("bytes=2-4", { "if-range": '"other"' })).toEqual([200, null, "0123456789"]);
  expect((await ranged("bytes=10-")).slice(0, 2)).toEqual([416, "bytes */10"]);
  expect((await get(`${folder}/f`, { "if-none-match": etag })).status).toBe(304);
  await writeFile(join(here, "f"), "different!");
  expect((await get(`${folder}/f`, { "if-none-match": etag })).status).toBe(200);
});

test("a copy of a sparse file is as sparse, however large it is", async () => {
  const file = await open(join(here, "sparse"), "w", 0o640);
  await file.truncate(300 * 1024 ** 3);
  await file.write("end", 200 * 1024 ** 3);
  await file.close();
  const there = join(files.there, "copied");
  const query = `action=copy&to=${encodeURIComponent(there)}`;
  expect((await files.client.call("POST", `${files.at(`${folder}/sparse`)}?${query}`)).status).toBe(200);
  const copied = await stat(join(here, "copied"));
  expect([copied.size, copied.mode & 0o777, copied.blocks < 1_000]).toEqual([300 * 1024 ** 3, 0o640, true]);
});

test("a copy ends with its client, and leaves nothing", async () => {
  await mkdir(join(here, "many"));
  const names = Array.from({ length: 5_000 }, (_, n) => join(here, "many", String(n)));
  for (const name of names) await writeFile(name, name);
  const gone = new AbortController();
  const { url, key } = files.client;
  const query = `action=copy&to=${encodeURIComponent(join(files.there, "copied"))}`;
  const copying = fetch(`${url}${files.at(`${folder}/many`)}?${query}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    signal: gone.signal,
  });
  await expect.poll(async () => (await readdir(here)).length, { interval: 5 }).toBe(2);
  gone.abort();
  await expect(copying).rejects.toThrow();
  await expect.poll(() => readdir(here)).toEqual(["many"]);
});

test("a removal ends with its client", async () => {
  const path = join(here, "many");
  await mkdir(path);
  execFileSync("sh", ["-c", "seq 60000 | xargs touch"], { cwd: path });
  const removers = () => processesWith(`${files.there}/many`);
  const gone = new AbortController();
  const { url, key } = files.client;
  const removing = fetch(`${url}${files.at(`${folder}/many`)}?recursive=true`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${key}` },
    signal: gone.signal,
  });
  await expect.poll(() => removers().length, { interval: 5 }).toBe(1);
  gone.abort();
  await expect(removing).rejects.toThrow();
  await expect.poll(removers).toEqual([]);
  expect((await readdir(path)).length).toBeGreaterThan(0);
});

/** The processes that have this argument. */
function processesWith(argument: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(argument);
    } catch {
      return false; // It has ended.
    }
  });
}

test("of many that make or replace the same file, one does", async () => {
  const once = async (headers: Record<string, string>, expected: number[]) => {
    const all = await Promise.all(Array.from({ length: 20 }, (_, n) => put(`${folder}/f`, String(n), headers)));
    expect(all.map(({ status }) => status).sort()).toEqual(expected);
  };
  const refused = Array.from({ length: 19 }, () => 412);
  for (let round = 0; round < 5; round++) {
    await once({ "if-none-match": "*" }, [201, ...refused]);
    const etag = (await get(`${folder}/f`)).headers.get("etag")!;
    await once({ "if-match": etag }, [200, ...refused]);
    await files.client.call("DELETE", files.at(`${folder}/f`));
  }
});

test("if-match and if-none-match guard what is there", async () => {
  const first = await put(`${folder}/f`, "one", { "if-none-match": "*" });
  expect(first.status).toBe(201);
  expect(await codeOf(put(`${folder}/f`, "two", { "if-none-match": "*" }))).toEqual([412, "precondition_failed"]);
  expect((await put(`${folder}/f`, "two", { "if-match": first.body.etag })).status).toBe(200);
  expect(await codeOf(put(`${folder}/f`, "three", { "if-match": first.body.etag }))).toEqual([
    412,
    "precondition_failed",
  ]);
  expect(await codeOf(put(`${folder}/g`, "x", { "if-match": "*" }))).toEqual([412, "precondition_failed"]);
  expect(await readFile(join(here, "f"), "utf8")).toBe("two");
  expect(await readdir(here)).toEqual(["f"]);
});

test("missing, special and conflicting files have an error code", async () => {
  execFileSync("mkfifo", [join(here, "fifo")]);
  await symlink("loop", join(here, "loop"));
  await symlink("/dev/null", join(here, "null"));
  await writeFile(join(here, "file"), "");
  await mkdir(join(here, "full/er"), { recursive: true });
  expect(await codeOf(get(`${folder}/fifo`))).toEqual([409, "file_not_regular"]);
  expect(await codeOf(get(`${folder}/null`))).toEqual([409, "file_not_regular"]);
  expect(await codeOf(put(`${folder}/fifo`, "x"))).toEqual([409, "file_not_regular"]);
  expect(await codeOf(get(`${folder}/loop`))).toEqual([409, "link_loop"]);
  expect(await codeOf(get(`${folder}/none`))).toEqual([404, "file_not_found"]);
  expect(await codeOf(get(`${folder}/file/below`))).toEqual([409, "not_a_folder"]);
  expect(await codeOf(put(`${folder}/file/below`, "x"))).toEqual([409, "not_a_folder"]);
  expect(await codeOf(put(`${folder}/full`, "x"))).toEqual([409, "is_a_folder"]);
  expect(await codeOf(client.fetch("DELETE", at(`${folder}/full`)))).toEqual([409, "folder_not_empty"]);
  expect(await codeOf(client.fetch("DELETE", at(`${folder}/none`)))).toEqual([404, "file_not_found"]);
  expect((await client.call("DELETE", `${at(`${folder}/full`)}?recursive=true`)).status).toBe(204);
});

test("a link is written through, and stays", async () => {
  await writeFile(join(here, "real"), "old");
  await symlink("real", join(here, "link"));
  await put(`${folder}/link`, "new");
  expect([await readlink(join(here, "link")), await readFile(join(here, "real"), "utf8")]).toEqual(["real", "new"]);
});

test("a folder is listed in pages, by name", async () => {
  const names = Array.from({ length: 2_500 }, (_, index) => `f${String(index).padStart(4, "0")}`);
  await Promise.all(names.map((name) => writeFile(join(here, name), "")));
  const seen: string[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const { body } = await client.call("GET", `${at(folder)}?limit=1000${cursor && `&cursor=${cursor}`}`);
    seen.push(...body.data.map(({ name }: { name: string }) => name));
    cursor = body.nextCursor;
  }
  expect(seen).toEqual(names);
});

test("a folder is listed with what is in its folders; links are not followed", async () => {
  await mkdir(join(here, "a/b/c"), { recursive: true });
  await writeFile(join(here, "a/b/file"), "four");
  await writeFile(join(here, "a.txt"), "");
  await symlink("/", join(here, "z"));
  const paths = async (query: string) => {
    const found: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const { body } = await client.call("GET", `${at(folder)}?limit=2${query}${cursor && `&cursor=${cursor}`}`);
      found.push(...body.data.map(({ path }: { path: string }) => path));
      cursor = body.nextCursor;
    }
    return found;
  };
  expect(await paths("&recursive=true")).toEqual(["a", "a/b", "a/b/c", "a/b/file", "a.txt", "z"]);
  expect(await paths("&recursive=true&depth=2")).toEqual(["a", "a/b", "a.txt", "z"]);
  expect(await paths("")).toEqual(["a", "a.txt", "z"]);
  const { body } = await client.call("GET", at(folder));
  expect(body.data.at(-1)).toMatchObject({ name: "z", type: "link", target: "/", owner: "root" });
  expect((await client.call("GET", `${at(`${folder}/a/b/file`)}?stat=true`)).body).toMatchObject({
    name: "file",
    path: `${there}/a/b/file`,
    size: 4,
  });
});

test("folders are made, files moved and copied, and nothing is overwritten", async () => {
  const change = (path: string, query: string) => client.call("POST", `${at(`${folder}/${path}`)}?${query}`);
  const to = (path: string) => encodeURIComponent(`${folder}/${path}`);
  expect((await change("new/deep", "action=mkdir")).body).toMatchObject({ type: "folder", name: "deep" });
  await writeFile(join(here, "new/f"), "text");
  expect((await change("new/f", `action=move&to=${to("moved/g")}`)).body).toMatchObject({ name: "g", type: "file" });
  expect((await change("moved", `action=copy&to=${to("copied")}`)).status).toBe(200);
  expect(await readFile(join(here, "copied/g"), "utf8")).toBe("text");
  expect(await change("moved", `action=copy&to=${to("copied")}`)).toMatchObject({
    status: 409,
    body: { code: "file_exists" },
  });
  expect(await change("moved", `action=move&to=${to("moved/in")}`)).toMatchObject({ body: { code: "file_exists" } });
  expect(await change("none", `action=move&to=${to("x")}`)).toMatchObject({ body: { code: "file_not_found" } });
  expect((await change("x", "action=move")).status).toBe(400);
  expect((await readdir(here)).toSorted()).toEqual(["copied", "moved", "new"]);
});

test("a file that shrinks while it is read breaks the connection off", async () => {
  await writeFile(join(here, "f"), "");
  await truncate(join(here, "f"), 300_000_000);
  const answer = await get(`${folder}/f`);
  const reader = answer.body!.getReader();
  await reader.read();
  await truncate(join(here, "f"), 10);
  const rest = async () => {
    while (!(await reader.read()).done);
  };
  await expect(rest()).rejects.toThrow();
});

test("changes are watched", async () => {
  const answer = await client.fetch("GET", `${at(folder)}?watch=true&recursive=true`);
  const stream = answer.body!.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  const events = stream[Symbol.asyncIterator]();
  const next = async () => JSON.parse((await events.next()).value!.data) as FileEvent;
  expect(await next()).toMatchObject({ type: "watching", path: there });
  await mkdir(join(here, "sub"));
  expect(await next()).toMatchObject({ type: "created", path: join(there, "sub") });
  await rm(join(here, "sub"), { recursive: true });
  const seen = [await next()];
  while (seen.at(-1)!.type !== "deleted") seen.push(await next());
  expect(seen.at(-1)).toMatchObject({ path: join(there, "sub") });
  await events.return!();
});

test("a sleeping agent is woken", async () => {
  await writeFile(join(here, "f"), "awake");
  await client.call("POST", "/agents/ada/suspend");
  expect(await (await get(`${folder}/f`)).text()).toBe("awake");
});
