import { randomBytes, randomUUID } from "node:crypto";
import { type ClientRequest, request } from "node:http";
import type OpenAI from "openai";
import { toFile } from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../../src/core/database/database.ts";
import { cleanUp } from "../../src/upkeep/clean-up-store.ts";
import { databaseOf, newAccount, newKey } from "../support/accounts.ts";
import { requireSchema } from "../support/open-responses.ts";
import { openAiOf } from "../support/openai-client.ts";
import { png } from "../support/pictures.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { requireDescribed } from "../support/wire.ts";

// Files of OpenAI's Files API, with the `openai` package, unmodified.

let service: ScriptedService;
let openai: OpenAI;
let database: Database;

beforeAll(async () => {
  service = await ScriptedService.start();
  database = await databaseOf(service);
  openai = openAiOf(service.client);
});
afterAll(async () => {
  await database.destroy();
  await service[Symbol.asyncDispose]();
});

async function newAgent(name: string): Promise<string> {
  await service.client.createAgent(name);
  return name;
}

async function upload(name = "notes.txt", bytes: Buffer | string = "hello", client = openai) {
  return client.files.create({ file: await toFile(Buffer.from(bytes), name), purpose: "user_data" });
}

/** A form as a client of no library sends it. */
async function post(form: FormData | string, headers: Record<string, string> = {}, client = service.client) {
  const response = await fetch(`${client.url}/v1/files`, {
    method: "POST",
    headers: { authorization: `Bearer ${client.key}`, ...headers },
    body: form,
  });
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
  return { status: response.status, headers: response.headers, body: (await response.json()) as any };
}

function formOf(fields: Record<string, string | Blob>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
}

const file = new File(["hello"], "notes.txt", { type: "text/plain" });

test("a file is stored, listed, read and deleted", async () => {
  const bytes = randomBytes(3_000_000);
  const stored = await upload("../Ünïcode 1.bin", bytes);
  requireSchema("OpenAiFile", stored);
  expect(stored).toMatchObject({ object: "file", bytes: 3_000_000, filename: "Ünïcode 1.bin", purpose: "user_data" });
  expect(stored.expires_at! - stored.created_at).toBe(30 * 86_400);
  expect(await openai.files.retrieve(stored.id)).toEqual(stored);
  const content = await openai.files.content(stored.id);
  expect(content.headers.get("content-disposition")).toContain("attachment");
  expect(bytes.equals(Buffer.from(await content.arrayBuffer()))).toBe(true);
  expect(await openai.files.delete(stored.id)).toEqual({ id: stored.id, object: "file", deleted: true });
  for (const use of ["retrieve", "content", "delete"] as const)
    await expect(openai.files[use](stored.id)).rejects.toMatchObject({
      status: 404,
      code: "file_not_found",
      param: null,
    });
  const { rows } = await database
    .selectFrom("openai_file_chunks")
    .selectAll()
    .execute()
    .then((rows) => ({ rows }));
  expect(rows).toEqual([]);
});

test("a list has pages in both orders, by purpose", async () => {
  const client = openAiOf(await newAccount(service));
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) ids.push((await upload(`${n}.txt`, "x", client)).id);
  const picture = await client.files.create({ file: await toFile(png(), "a.png"), purpose: "vision" });
  const listed = async (query: object) => {
    const found: string[] = [];
    for await (const { id } of client.files.list({ limit: 2, ...query })) found.push(id);
    return found;
  };
  expect(await listed({ order: "asc" })).toEqual([...ids, picture.id]);
  expect(await listed({})).toEqual([...ids, picture.id].reverse());
  expect(await listed({ purpose: "vision" })).toEqual([picture.id]);
  await expect(client.files.list({ after: "file-none" })).rejects.toMatchObject({ status: 400 });
});

describe("messages", () => {
  test("name files in Responses, whose agent gets a copy", async () => {
    const model = await newAgent("responses");
    const [text, picture] = [await upload("report.txt"), await upload("plot.png", png())];
    const content = [
      { type: "input_file" as const, file_id: text.id },
      { type: "input_file" as const, file_id: text.id, filename: "other.txt" },
      { type: "input_image" as const, file_id: picture.id, detail: "auto" as const },
    ];
    const response = await openai.responses.create({ model, input: [{ role: "user", content }] });
    expect(response.output_text).toMatch(/\/report\.txt\n\/.*\/other\.txt\n\/.*\/plot\.png$/);
    await openai.files.delete(text.id);
    const { data } = (await service.client.call("GET", `/agents/${model}/turns`)).body;
    expect(data[0].attachments).toMatchObject([
      { mediaType: "text/plain" },
      {},
      { kind: "image", mediaType: "image/png" },
    ]);
    const path = `/agents/${model}/files/inbox/${data[0].id}/report.txt`;
    expect((await service.client.call("GET", path)).body).toBe("hello");
    const items = (await openai.responses.inputItems.list(response.id)).data;
    expect(items).toMatchObject([
      { content: [{ file_id: text.id }, { filename: "other.txt" }, { file_id: picture.id }] },
    ]);
  });

  test("name files in Chat Completions", async () => {
    const model = await newAgent("chat");
    const { id } = await upload("report.txt");
    const content = [{ type: "file" as const, file: { file_id: id } }];
    const { choices } = await openai.chat.completions.create({ model, messages: [{ role: "user", content }] });
    expect(choices[0]!.message.content).toMatch(/\/report\.txt$/);
  });

  test("are refused with an unknown file, with two sources, and with a file that is no image", async () => {
    const model = await newAgent("refused");
    const { id } = await upload();
    const refusal = async (part: object) => {
      const input = [{ role: "user" as const, content: [part] }] as never;
      return openai.responses.create({ model, input }).then(
        () => null,
        ({ status, param, message }) => [status, param, message],
      );
    };
    const unknown = `file-${"0".repeat(32)}`;
    expect(await refusal({ type: "input_file", file_id: unknown })).toEqual([
      404,
      "input.0.content.0.file_id",
      expect.stringContaining("There is no such file"),
    ]);
    expect(await refusal({ type: "input_file", file_id: id, file_data: "eA==" })).toMatchObject([
      400,
      null,
      expect.any(String),
    ]);
    expect(await refusal({ type: "input_file", file_id: 7 })).toMatchObject([400, null, expect.any(String)]);
    expect(await refusal({ type: "input_file", file_url: "https://example.com" })).toMatchObject([
      400,
      null,
      expect.any(String),
    ]);
    expect(await refusal({ type: "input_image", file_id: id })).toMatchObject([400, null, expect.any(String)]);
    expect((await service.client.call("GET", `/agents/${model}/uploads`)).body.data).toEqual([]);
  });
});

test.each<[string, Record<string, string | Blob>, string | null, string]>([
  ["no file", { purpose: "user_data" }, "file", "file is required"],
  ["a text for the file", { purpose: "user_data", file: "hello" }, "file", "file is required"],
  ["an empty file", { purpose: "user_data", file: new File([], "a.txt") }, "file", "the file is empty"],
  ["no purpose", { file }, "purpose", '"user_data", "vision", "assistants"'],
  ["another purpose", { file, purpose: "fine-tune" }, "purpose", '"user_data", "vision", "assistants"'],
  [
    "a long life",
    { file, purpose: "vision", "expires_after[seconds]": "9999999" },
    "expires_after[seconds]",
    "30 days",
  ],
  ["a short life", { file, purpose: "vision", "expires_after[seconds]": "60" }, "expires_after[seconds]", "an hour"],
  [
    "another anchor",
    { file, purpose: "vision", "expires_after[anchor]": "now" },
    "expires_after[anchor]",
    "created_at",
  ],
])("an upload with %s is refused", async (_, fields, param, message) => {
  const answer = await post(formOf(fields));
  requireDescribed("POST", "/v1/files", answer);
  expect(answer).toMatchObject({ status: 400, body: { error: { param, message: expect.stringContaining(message) } } });
});

test("a body that is no form, breaks off or is too large is refused", async () => {
  expect((await post("{}", { "content-type": "application/json" })).status).toBe(415);
  const type = "multipart/form-data; boundary=x";
  const begun = '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nhello';
  expect(await post(begun, { "content-type": type })).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringContaining("not a complete form") } },
  });
  const large = (size: number) => formOf({ file: new File([Buffer.alloc(size)], "a.bin"), purpose: "user_data" });
  expect(await post(large(32 * 1024 * 1024 + 1))).toMatchObject({ status: 413 });
  expect(await post(large(32 * 1024 * 1024))).toMatchObject({ status: 200, body: { bytes: 32 * 1024 * 1024 } });
});

test("a form that is much too large is not read to its end", async () => {
  const { url, key } = service.client;
  const sent = request(`${url}/v1/files`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "multipart/form-data; boundary=x" },
  });
  sent.on("error", () => {}); // The server closes the connection.
  const closed = new Promise((resolve) => sent.once("close", resolve));
  const drained = () => new Promise((resolve) => sent.once("drain", resolve));
  sent.write('--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n');
  const part = Buffer.alloc(1024 * 1024);
  let count = 0;
  while (!sent.destroyed && !sent.closed && count < 500) {
    count++;
    if (!sent.write(part)) await Promise.race([drained(), closed]);
  }
  sent.destroy();
  expect(count).toBeLessThan(200);
});

test("few forms of an account arrive at once", async () => {
  const client = await newAccount(service);
  const open: ClientRequest[] = [];
  const begin = () => {
    const sent = request(`${client.url}/v1/files`, {
      method: "POST",
      headers: { authorization: `Bearer ${client.key}`, "content-type": "multipart/form-data; boundary=x" },
    });
    sent.on("error", () => {});
    sent.write("--x\r\n");
    open.push(sent);
  };
  const status = async () => (await post(formOf({ file, purpose: "user_data" }), {}, client)).status;
  // Forms that come late find no room themselves, so each try begins another.
  await expect
    .poll(() => {
      begin();
      return status();
    })
    .toBe(429);
  for (const sent of open) sent.destroy();
  await expect.poll(status).toBe(200);
});

test("a file belongs to a person with all keys, or to an external agent key alone", async () => {
  const agent = await newAgent("shared");
  const [one, other] = [await newKey(service.client, {}), await newKey(service.client, {})].map(openAiOf);
  const narrow = await newKey(service.client, { name: "narrow", kind: "agent", agents: [agent] });
  const stranger = openAiOf(await newAccount(service));
  const mine = await upload("mine.txt", "mine", one);
  const theirs = await upload("theirs.txt", "theirs", openAiOf(narrow));
  expect((await other!.files.retrieve(mine.id)).id).toBe(mine.id);
  const listed = await openAiOf(narrow).files.list();
  expect(listed.data.map(({ id }) => id)).toEqual([theirs.id]);
  for (const [client, id] of [
    [openAiOf(narrow), mine.id],
    [stranger, mine.id],
    [stranger, theirs.id],
  ] as const) {
    await expect(client.files.retrieve(id)).rejects.toMatchObject({ status: 404 });
    await expect(client.files.content(id)).rejects.toMatchObject({ status: 404 });
    await expect(client.files.delete(id)).rejects.toMatchObject({ status: 404 });
  }
  const input = [{ role: "user", content: [{ type: "input_file", file_id: mine.id }] }] as never;
  await expect(openAiOf(narrow).responses.create({ model: agent, input })).rejects.toMatchObject({ status: 404 });
  const { data } = (await service.client.call("GET", "/audit?limit=100")).body;
  expect(data).toContainEqual(expect.objectContaining({ operation: "POST /v1/files", status: 200 }));
});

test("a workspace and an external agent key have a number of files", async () => {
  const client = await newAccount(service);
  await client.createAgent("counted");
  const narrow = await newKey(client, { name: "narrow", kind: "agent", agents: ["counted"] });
  await upload("a.txt", "a", openAiOf(narrow));
  const template = await database
    .selectFrom("openai_files")
    .selectAll()
    .orderBy("created_at", "desc")
    .executeTakeFirstOrThrow();
  const add = (count: number) =>
    database
      .insertInto("openai_files")
      .values(Array.from({ length: count }, () => ({ ...template, size: 1, id: randomUUID() })))
      .execute();
  await add(99);
  await expect(upload("b.txt", "b", openAiOf(narrow))).rejects.toMatchObject({ status: 409, code: "uploads_full" });
  await upload("b.txt", "b", openAiOf(client));
  await add(899);
  await expect(upload("c.txt", "c", openAiOf(client))).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining("1000 files of 1024 MiB"),
  });
  await database
    .updateTable("openai_files")
    .set({ size: 2 ** 30 })
    .where("id", "=", template.id)
    .execute();
  await database
    .deleteFrom("openai_files")
    .where("size", "=", "1" as never)
    .execute();
  await expect(upload("d.txt", "d", openAiOf(client))).rejects.toMatchObject({ code: "uploads_full" });
});

test("a file expires", async () => {
  const answer = await post(
    formOf({ file, purpose: "assistants", "expires_after[anchor]": "created_at", "expires_after[seconds]": "3600" }),
  );
  const { id, created_at, expires_at } = answer.body;
  expect(expires_at - created_at).toBe(3_600);
  const row = `${id.slice(5, 13)}-${id.slice(13, 17)}-${id.slice(17, 21)}-${id.slice(21, 25)}-${id.slice(25)}`;
  await database
    .updateTable("openai_files")
    .set({ expires_at: new Date(0) })
    .where("id", "=", row)
    .execute();
  await expect(openai.files.retrieve(id)).rejects.toMatchObject({ status: 404 });
  expect((await openai.files.list()).data.map((each) => each.id)).not.toContain(id);
  await cleanUp(database, { ...service.config }, (_, error) => expect(error).toBeUndefined());
  expect(await database.selectFrom("openai_files").selectAll().where("id", "=", row).execute()).toEqual([]);
});

test("an upload that is sent again is stored once", async () => {
  const headers = { "idempotency-key": "a file" };
  const first = await post(formOf({ file, purpose: "user_data" }), headers);
  const again = await post(formOf({ file, purpose: "user_data" }), headers);
  expect([first.status, again.body]).toEqual([200, first.body]);
});
