import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { gif } from "../../test/support/pictures.ts";
import { json, ScriptedApi, turn } from "../../test/support/scripted-api.ts";

let api: ScriptedApi;
let folder: string;
beforeAll(async () => {
  api = await ScriptedApi.listen();
  folder = await mkdtemp(join(tmpdir(), "berth-attached-"));
});
afterAll(async () => {
  api[Symbol.dispose]();
  await rm(folder, { recursive: true });
});
beforeEach(() => api.clear());

const id = "0b0e4b5c-58a3-4c34-9d10-7c2d8a1d2e3f";
const upload = (name: string, size: number) => json({ id, name, size }, 201);

async function file(name: string, bytes: Buffer | string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, bytes);
  return path;
}

const bodies = () =>
  api.seen.filter(({ path }) => path.endsWith("/chat")).map(({ body }) => JSON.parse(body).content as object[]);

test("files are uploaded, and named in the message: an image by its bytes", async () => {
  api.answers["POST /agents/ada/uploads?name=shot"] = [upload("shot", gif.length)];
  api.answers["POST /agents/ada/uploads?name=a+b.pdf"] = [upload("a b.pdf", 3)];
  api.answers["POST /agents/ada/chat"] = [turn([{ type: "response.completed" }])];
  const paths = [await file("shot", gif), await file("a b.pdf", "pdf")];
  const args = ["chat", "ada", "-f", paths[0]!, "--file", paths[1]!, "look"];
  expect(await api.berth(args)).toMatchObject({ code: 0, stderr: "" });
  expect(bodies()).toEqual([
    [
      { type: "text", text: "look" },
      { type: "image", fileId: id },
      { type: "file", fileId: id },
    ],
  ]);
});

test("a file needs no message", async () => {
  api.answers["POST /agents/ada/uploads?name=notes.txt"] = [upload("notes.txt", 5)];
  api.answers["POST /agents/ada/chat"] = [turn([{ type: "response.completed" }])];
  expect(await api.berth(["chat", "ada", "-f", await file("notes.txt", "notes")])).toMatchObject({ code: 0 });
  expect(bodies()).toEqual([[{ type: "file", fileId: id }]]);
});

test("a file that cannot be sent is refused before anything is", async () => {
  const large = await file("large", "");
  await truncate(large, 100 * 1024 * 1024 + 1);
  const refusals: [string, RegExp][] = [
    [join(folder, "none"), /none: no such file/],
    [folder, /is not a regular file/],
    [await file("empty", ""), /empty is empty/],
    [large, /larger than 100 MiB\. Copy it to the agent's machine with berth cp/],
  ];
  for (const [path, message] of refusals) {
    const { code, stderr } = await api.berth(["chat", "ada", "-f", path, "look"]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  }
  expect(api.seen).toEqual([]);
});
