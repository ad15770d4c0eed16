import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { FileEvent, WrittenFile } from "../../src/contract/files.ts";
import type { TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// Files over HTTP. The scripted machine is this machine: everything stays inside the agent's home, in a folder for each
// test.

let service: ScriptedService;
let client: TestClient;
/** The agent's home. */
let home: string;
/** The test's own folder: as the API names it, and here. */
let [folder, here] = ["", ""];

beforeAll(async () => {
  service = await ScriptedService.start();
  client = service.client;
  await client.createAgent("ada");
  home = join(service.config.dataFolder, "machines", service.driver.running[0]!);
});
afterAll(() => service[Symbol.asyncDispose]());
beforeEach(async () => {
  folder = `test-${randomBytes(6).toString("hex")}`;
  here = join(home, folder);
  await mkdir(here);
});

const at = (path: string) => `/agents/ada/files/${path.split("/").map(encodeURIComponent).join("/")}`;
const get = (path: string, headers = {}) => client.fetch("GET", at(path), undefined, headers);

async function put(path: string, body: string | Uint8Array | ReadableStream, headers = {}, query = "") {
  const response = await fetch(client.url + at(path) + query, {
    method: "PUT",
    headers: { authorization: `Bearer ${client.key}`, ...headers },
    body,
    duplex: "half",
  } as RequestInit);
  return { status: response.status, headers: response.headers, body: (await response.json()) as WrittenFile };
}

async function code(answer: Promise<Response | { status: number; body: unknown }>): Promise<[number, string]> {
  const got = await answer;
  const body = got instanceof Response ? await got.json() : got.body;
  return [got.status, (body as { code: string }).code];
}

test("a file is written whole, and read again with its headers", async () => {
  const bytes = randomBytes(3_000_000);
  const written = await put(`${folder}/deep/er/data.json`, bytes);
  expect(written).toMatchObject({
    status: 201,
    body: {
      path: `${here}/deep/er/data.json`,
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
    `${here}/x`,
    `${folder}/../${folder}/./x`,
    `%2E%2e/${home.split("/").at(-1)}/${folder}/x`,
  ]) {
    expect([path, await raw(files + path)]).toEqual([path, { status: 200, body: "here" }]);
  }
  expect(await raw(`${files}${encodeURIComponent(here)}%2Fx`)).toEqual({ status: 200, body: "here" });
  expect(await raw(`${files}${"../".repeat(40)}${here.slice(1)}/x`)).toEqual({ status: 200, body: "here" });
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

test("if-match and if-none-match guard what is there", async () => {
  const first = await put(`${folder}/f`, "one", { "if-none-match": "*" });
  expect(first.status).toBe(201);
  expect(await code(put(`${folder}/f`, "two", { "if-none-match": "*" }))).toEqual([412, "precondition_failed"]);
  expect((await put(`${folder}/f`, "two", { "if-match": first.body.etag })).status).toBe(200);
  expect(await code(put(`${folder}/f`, "three", { "if-match": first.body.etag }))).toEqual([
    412,
    "precondition_failed",
  ]);
  expect(await code(put(`${folder}/g`, "x", { "if-match": "*" }))).toEqual([412, "precondition_failed"]);
  expect(await readFile(join(here, "f"), "utf8")).toBe("two");
  expect(await readdir(here)).toEqual(["f"]);
});

test("what is no regular file, missing or in the way is an error with a code", async () => {
  execFileSync("mkfifo", [join(here, "fifo")]);
  await symlink("loop", join(here, "loop"));
  await symlink("/dev/null", join(here, "null"));
  await writeFile(join(here, "file"), "");
  await mkdir(join(here, "full/er"), { recursive: true });
  expect(await code(get(`${folder}/fifo`))).toEqual([409, "file_not_regular"]);
  expect(await code(get(`${folder}/null`))).toEqual([409, "file_not_regular"]);
  expect(await code(put(`${folder}/fifo`, "x"))).toEqual([409, "file_not_regular"]);
  expect(await code(get(`${folder}/loop`))).toEqual([409, "link_loop"]);
  expect(await code(get(`${folder}/none`))).toEqual([404, "file_not_found"]);
  expect(await code(get(`${folder}/file/below`))).toEqual([409, "not_a_folder"]);
  expect(await code(put(`${folder}/file/below`, "x"))).toEqual([409, "not_a_folder"]);
  expect(await code(put(`${folder}/full`, "x"))).toEqual([409, "is_a_folder"]);
  expect(await code(client.fetch("DELETE", at(`${folder}/full`)))).toEqual([409, "folder_not_empty"]);
  expect(await code(client.fetch("DELETE", at(`${folder}/none`)))).toEqual([404, "file_not_found"]);
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
    path: `${here}/a/b/file`,
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
  const id = service.driver.running.find((each) => !home.endsWith(each))!;
  const hers = join(service.config.dataFolder, "machines", id);
  const path = `${client.url}/agents/bea/files/f`;
  const headers = { authorization: `Bearer ${client.key}` };
  const body = new ReadableStream({ start: (controller) => controller.enqueue(randomBytes(100_000)) });
  const sent = fetch(path, { method: "PUT", headers, body, duplex: "half" } as RequestInit);
  const unfinished = async () => (await readdir(hers)).filter((name) => name.startsWith(".berth-upload-"));
  await expect.poll(async () => (await unfinished()).length).toBe(1);
  service.driver.disconnect(id);
  expect((await sent).status).toBe(500);
  await expect.poll(unfinished).toEqual([]);
  expect(existsSync(join(hers, "f"))).toBe(false);
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

/** Makes an archive with GNU tar, which is told to keep names as they are. */
async function archiveOf(...args: string[]): Promise<Buffer> {
  return execFileSync("tar", ["-czPf", "-", "-C", here, ...args]);
}
const gzip = { "content-type": "application/gzip" };

test.each(["application/gzip", "application/x-tar", "application/zip"])("a folder as %s", async (accept) => {
  await mkdir(join(here, "in/side"), { recursive: true });
  await writeFile(join(here, "in/side/f"), "content");
  const answer = await get(`${folder}/in`, { accept });
  expect(answer.headers.get("content-type")).toBe(accept);
  const local = await mkdtemp(join(tmpdir(), "berth-archive-"));
  await writeFile(join(local, "archive"), new Uint8Array(await answer.arrayBuffer()));
  if (accept === "application/zip") execFileSync("unzip", ["-q", "archive"], { cwd: local });
  else execFileSync("tar", ["-xf", "archive"], { cwd: local });
  expect(await readFile(join(local, "side/f"), "utf8")).toBe("content");
  await rm(local, { recursive: true });
});

test("an archive is unpacked into a folder, beside what is there", async () => {
  await mkdir(join(here, "source/sub"), { recursive: true });
  await writeFile(join(here, "source/sub/f"), "content", { mode: 0o755 });
  await symlink("sub/f", join(here, "source/link"));
  const archive = execFileSync("tar", ["-czf", "-", "-C", join(here, "source"), "."]);
  expect(await put(`${folder}/new/target`, archive, gzip, "?extract=true")).toMatchObject({
    status: 201,
    body: { created: true, size: archive.length },
  });
  expect(await readFile(join(here, "new/target/link"), "utf8")).toBe("content");
  await writeFile(join(here, "new/target/other"), "");
  expect((await put(`${folder}/new/target`, archive, gzip, "?extract=true")).status).toBe(200);
  expect((await readdir(join(here, "new/target"))).toSorted()).toEqual(["link", "other", "sub"]);
  expect(await readdir(join(here, "new"))).toEqual(["target"]);
});

test("an archive that would leave its folder is refused, and nothing of it stays", async () => {
  await mkdir(join(here, "s"));
  await symlink("../../..", join(here, "s/out"));
  await symlink("/etc", join(here, "s/etc"));
  await symlink("sub/../../..", join(here, "s/round"));
  await writeFile(join(here, "f"), "");
  execFileSync("mkfifo", [join(here, "s/fifo")]);
  const hostile = [
    await archiveOf("s/out"),
    await archiveOf("s/etc"),
    await archiveOf("s/round"),
    await archiveOf("s/fifo"),
    await archiveOf("--transform=s,^f,../escaped,", "f"),
    Buffer.from("no archive"),
    (await archiveOf("f")).subarray(0, 40),
  ];
  for (const archive of hostile) {
    expect(await code(put(`${folder}/t`, archive, gzip, "?extract=true"))).toEqual([400, "archive_invalid"]);
    expect((await readdir(here)).toSorted()).toEqual(["f", "s"]);
  }
  expect(existsSync(join(home, "escaped"))).toBe(false);
  expect(await code(put(`${folder}/t`, "x", { "content-type": "text/plain" }, "?extract=true"))).toEqual([
    415,
    "content_type_unsupported",
  ]);
});

test("changes are watched", async () => {
  const answer = await client.fetch("GET", `${at(folder)}?watch=true&recursive=true`);
  const stream = answer.body!.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  const events = stream[Symbol.asyncIterator]();
  const next = async () => JSON.parse((await events.next()).value!.data) as FileEvent;
  expect(await next()).toMatchObject({ type: "watching", path: here });
  await mkdir(join(here, "sub"));
  expect(await next()).toMatchObject({ type: "created", path: join(here, "sub") });
  await rm(join(here, "sub"), { recursive: true });
  const seen = [await next()];
  while (seen.at(-1)!.type !== "deleted") seen.push(await next());
  expect(seen.at(-1)).toMatchObject({ path: join(here, "sub") });
  await events.return!();
});

test("a sleeping agent is woken", async () => {
  await writeFile(join(here, "f"), "awake");
  await client.call("POST", "/agents/ada/suspend");
  expect(await (await get(`${folder}/f`)).text()).toBe("awake");
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
