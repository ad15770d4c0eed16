import { createHash } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { TurnEvent } from "../../src/contract/chat.ts";
import { cleanUp } from "../../src/upkeep/clean-up-store.ts";
import { databaseOf, newAccount, newKey } from "../support/accounts.ts";
import { type Answer, eventsOf, type TestClient } from "../support/client.ts";
import { jpeg, png } from "../support/pictures.ts";
import { ScriptedService } from "../support/scripted-service.ts";

let service: ScriptedService;
let client: TestClient;
let number = 0;
/** Each test has an agent of its own. */
let agent: string;

beforeAll(async () => {
  service = await ScriptedService.start();
});
beforeEach(async () => {
  client = service.client;
  agent = `agent-${++number}`;
  await client.createAgent(agent);
});
afterAll(() => service[Symbol.asyncDispose]());

const base64 = (bytes: Buffer | string) => Buffer.from(bytes).toString("base64");
const text = (said: string) => ({ type: "text", text: said });
const image = { type: "image", data: base64(png()), name: "shot.png", mediaType: "image/png" };
const file = { type: "file", data: base64("notes"), name: "notes.txt" };

interface Said {
  status: number;
  id: string;
  events: TurnEvent[];
  said: string;
  body: Answer["body"];
}

async function chat(
  content: unknown,
  more: object = {},
  by = client,
  headers: Record<string, string> = {},
): Promise<Said> {
  const response = await by.fetch("POST", `/agents/${agent}/chat`, { content, ...more }, headers);
  const events: TurnEvent[] = [];
  const id = response.headers.get("x-turn-id") ?? "";
  if (response.status !== 200) return { status: response.status, id, events, said: "", body: await response.json() };
  for await (const { event } of eventsOf(response)) events.push(event);
  const said = events.map((event) => (event.type === "response.output_text.delta" ? event.delta : "")).join("");
  return { status: 200, id, events, said, body: null };
}

async function upload(bytes: Buffer | string, name: string, by = client): Promise<Pick<Answer, "status" | "body">> {
  const path = `/agents/${agent}/uploads?name=${encodeURIComponent(name)}`;
  const response = await fetch(client.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${by.key}` },
    body: new Uint8Array(Buffer.from(bytes)),
  });
  return { status: response.status, body: await response.json() };
}

const turn = async (id: string) => (await client.call("GET", `/agents/${agent}/turns/${id}`)).body;
const uploads = async () => (await client.call("GET", `/agents/${agent}/uploads`)).body.data;
const inMachine = async (path: string) => {
  const response = await client.fetch(
    "GET",
    `/agents/${agent}/files/${path.split("/").map(encodeURIComponent).join("/")}`,
  );
  return Buffer.from(await response.arrayBuffer());
};
const received = async () => (await inMachine(".local/state/messages")).toString();

describe("a message with images and files", () => {
  test("reaches the runtime with its images, and all are files in the machine", async () => {
    const { id, said } = await chat([text("see this"), image, file]);
    expect(JSON.parse(said)).toEqual([["image/png", png().length]]);
    const attachments = [
      { id: expect.any(String), kind: "image", name: "shot.png", mediaType: "image/png", size: png().length },
      { id: expect.any(String), kind: "file", name: "notes.txt", mediaType: "text/plain", size: 5 },
    ];
    expect(await turn(id)).toMatchObject({ message: "see this", attachments });
    expect(await received()).toMatch(
      new RegExp(`^see this\n\nAttached files:\n/.*/inbox/${id}/shot\\.png\n/.*/inbox/${id}/notes\\.txt\n$`),
    );
    expect(await inMachine(`inbox/${id}/shot.png`)).toEqual(png());
    expect((await inMachine(`inbox/${id}/notes.txt`)).toString()).toBe("notes");
  });

  test("needs no text, and joins several", async () => {
    const { id } = await chat([image]);
    expect(await turn(id)).toMatchObject({ message: "", status: "completed" });
    expect(await received()).toMatch(/^Attached files:\n/);
    const both = await chat([text("one"), file, text("two")]);
    expect((await turn(both.id)).message).toBe("one\n\ntwo");
  });

  test("has files whose names are safe, and none overwrites another", async () => {
    const names = ["../../x.txt", "x.txt", "3-x.txt", "x.txt", "a\u202egpj.txt", "メモ.txt", "../..", "n\no.txt"];
    const { id } = await chat([text("hello"), ...names.map((name) => ({ ...file, name, data: base64(name) }))]);
    const listed = (await client.call("GET", `/agents/${agent}/files/inbox/${id}`)).body.data;
    const found = listed.map(({ name }: { name: string }) => name).toSorted();
    const safe = ["x.txt", "2-x.txt", "3-x.txt", "4-x.txt", "a_gpj.txt", "メモ.txt", "file-7.bin", "n_o.txt"];
    expect(found).toEqual(safe.toSorted());
    for (const [index, name] of safe.entries()) {
      expect((await inMachine(`inbox/${id}/${name}`)).toString()).toBe(names[index]);
    }
    expect((await client.call("GET", `/agents/${agent}/files/inbox`)).body.data).toHaveLength(1);
  });

  test("is the same turn for a retry with the same key", async () => {
    const key = { "idempotency-key": `again-${agent}` };
    const first = await chat([text("hello"), file], {}, client, key);
    const again = await chat([text("hello"), file], {}, client, key);
    expect(again.id).toBe(first.id);
    expect(await uploads()).toHaveLength(1);
    expect((await client.call("GET", `/agents/${agent}/turns`)).body.data).toHaveLength(1);
  });

  test("fails its turn where the machine cannot take its files", async () => {
    await client.call("PUT", `/agents/${agent}/files/inbox`, "a file");
    const { events } = await chat([text("hello"), file]);
    expect(events.at(-1)).toMatchObject({ type: "response.failed", error: { code: "not_a_folder" } });
  });

  test("is retold with the paths of its files", async () => {
    const { id } = await chat([text("look"), file]);
    await client.call("PATCH", `/agents/${agent}`, { runtime: "opencode" });
    const database = await databaseOf(service);
    const { rows } = await sql<{
      text: string;
    }>`select text from retold_conversations order by created_at desc limit 1`.execute(database);
    await database.destroy();
    expect(rows[0]!.text).toContain(`User: look\n\nAttached files:\ninbox/${id}/notes.txt`);
  });

  test("moves with its agent's history, and its files with the machine's", async () => {
    const { id } = await chat([text("look"), file]);
    await client.call("POST", `/agents/${agent}/suspend`);
    const archive = await (await client.fetch("GET", `/agents/${agent}/export`)).arrayBuffer();
    const name = `${agent}-moved`;
    const response = await fetch(`${client.url}/imports?name=${name}&wait=ready`, {
      method: "POST",
      headers: { authorization: `Bearer ${client.key}`, "content-type": "application/x-tar" },
      body: archive,
    });
    expect(response.status).toBe(201);
    const [moved] = (await client.call("GET", `/agents/${name}/turns`)).body.data;
    expect(moved.attachments).toMatchObject([{ kind: "file", name: "notes.txt", size: 5 }]);
    expect((await client.fetch("GET", `/agents/${name}/files/inbox/${id}/notes.txt`)).status).toBe(200);
    const path = `/agents/${name}/uploads/${moved.attachments[0].id}`;
    expect((await client.call("GET", path)).body.code).toBe("upload_not_found");
  });
});

describe("a queued message", () => {
  test("keeps its files through an edit, their expiry and a restart of the server", async () => {
    const hanging = await client.fetch("POST", `/agents/${agent}/chat`, { message: "hang", include: ["status"] });
    const body = { content: [text("hello"), image, file], whenBusy: "queue" };
    const waiting = await client.fetch("POST", `/agents/${agent}/chat`, body);
    const id = waiting.headers.get("x-turn-id")!;
    const queue = await client.call("PATCH", `/agents/${agent}/turns/${id}`, { message: "see that" });
    expect(queue.body.data).toMatchObject([{ message: "see that", attachments: [{ name: "shot.png" }, {}] }]);
    const [{ id: uploadId }] = queue.body.data[0].attachments;
    const removed = await client.call("DELETE", `/agents/${agent}/uploads/${uploadId}`);
    expect([removed.status, removed.body.code]).toEqual([409, "upload_in_use"]);
    await expire();
    await service.restart();
    client = service.client;
    await client.call("POST", `/agents/${agent}/turns/${hanging.headers.get("x-turn-id")}/cancel`);
    const held = async () => (await client.call("GET", `/agents/${agent}/queue`)).body.held;
    await expect.poll(held).toBe("cancelled");
    await client.call("POST", `/agents/${agent}/queue`, { action: "resume" });
    const { text: said } = await client.events(agent, id);
    expect(JSON.parse(said)).toEqual([["image/png", png().length]]);
    expect((await inMachine(`inbox/${id}/notes.txt`)).toString()).toBe("notes");
    await waiting.body!.cancel().catch(() => {});
    await hanging.body!.cancel().catch(() => {});
  });
});

/** Lets all uploads expire, and the clean-up remove those that it may. */
async function expire(): Promise<void> {
  const database = await databaseOf(service);
  await sql`update uploads set expires_at = now() - interval '1 second'`.execute(database);
  await cleanUp(database, service.config, (step, error) => {
    throw new Error(step, { cause: error });
  });
  await database.destroy();
}

describe("an upload", () => {
  test("is used by its id, several times, and downloaded", async () => {
    const { status, body } = await upload(png(), "Bildschirm фото.png");
    expect(status).toBe(201);
    const sha256 = createHash("sha256").update(png()).digest("hex");
    expect(body).toMatchObject({ name: "Bildschirm фото.png", mediaType: "image/png", size: png().length, sha256 });
    expect(Date.parse(body.expiresAt) - Date.parse(body.createdAt)).toBeCloseTo(86_400_000, -4);
    for (const kind of ["image", "file"]) {
      const { id, said } = await chat([text("see it"), { type: kind, fileId: body.id }]);
      expect(JSON.parse(said)).toEqual(kind === "image" ? [["image/png", png().length]] : []);
      expect(await inMachine(`inbox/${id}/Bildschirm фото.png`)).toEqual(png());
    }
    const later = (await client.call("GET", `/agents/${agent}/uploads/${body.id}`)).body;
    expect(Date.parse(later.expiresAt) - Date.parse(later.createdAt)).toBeGreaterThan(6 * 86_400_000);
    const content = await client.fetch("GET", `/agents/${agent}/uploads/${body.id}/content`);
    expect(Buffer.from(await content.arrayBuffer())).toEqual(png());
    expect(content.headers.get("content-type")).toBe("image/png");
    expect(content.headers.get("content-disposition")).toMatch(/^attachment; filename\*=UTF-8''Bildschirm%20/);
    expect((await client.call("DELETE", `/agents/${agent}/uploads/${body.id}`)).status).toBe(204);
    expect(await uploads()).toEqual([]);
  });

  test("that no page should run is downloaded without its type", async () => {
    const { body } = await upload("<script>", "a.html");
    expect(body.mediaType).toBe("text/html");
    const content = await client.fetch("GET", `/agents/${agent}/uploads/${body.id}/content`);
    expect(content.headers.get("content-type")).toBe("application/octet-stream");
    expect(content.headers.get("x-content-type-options")).toBe("nosniff");
  });

  test("of several parts is complete in the machine", async () => {
    const bytes = Buffer.alloc(3 * 1024 * 1024 + 17, "large");
    const { body } = await upload(bytes, "large.bin");
    const { id } = await chat([{ type: "file", fileId: body.id }]);
    expect((await inMachine(`inbox/${id}/large.bin`)).equals(bytes)).toBe(true);
  });

  test("expires, and a message cannot use it then", async () => {
    const { body } = await upload("notes", "notes.txt");
    await expire();
    expect(await uploads()).toEqual([]);
    const refused = await chat([{ type: "file", fileId: body.id }]);
    expect([refused.status, refused.body.code]).toEqual([404, "upload_not_found"]);
  });

  test("is of one agent, and of one external key", async () => {
    const { body } = await upload("notes", "notes.txt");
    const other = `${agent}-other`;
    await client.createAgent(other);
    const path = (name: string) => `/agents/${name}/uploads/${body.id}`;
    expect((await client.call("GET", path(other))).body.code).toBe("upload_not_found");
    const key = await newKey(client, { name: `key-${agent}`, kind: "agent", agents: [agent] });
    for (const [method, suffix] of [
      ["GET", ""],
      ["GET", "/content"],
      ["DELETE", ""],
    ] as const) {
      expect((await key.call(method, path(agent) + suffix)).body.code).toBe("upload_not_found");
    }
    const refused = await chat([{ type: "file", fileId: body.id }], {}, key);
    expect(refused.body).toMatchObject({
      code: "upload_not_found",
      message: expect.stringMatching(/^content\.0\.fileId: /),
    });
    const own = await upload("own", "own.txt", key);
    expect(own.body.createdBy).toBeNull();
    expect((await chat([{ type: "file", fileId: own.body.id }], {}, key)).status).toBe(200);
    expect((await key.call("GET", `/agents/${agent}/uploads`)).status).toBe(403);
    const stranger = await newAccount(service);
    expect((await stranger.call("GET", path(agent))).body.code).toBe("agent_not_found");
  });

  test("is refused if it is empty, too large or broken off, and leaves nothing", async () => {
    expect((await upload("", "empty.txt")).body).toMatchObject({
      code: "request_invalid",
      message: expect.stringContaining("empty"),
    });
    expect((await upload("x", "")).body).toMatchObject({ code: "request_invalid" });
    const large = await upload(Buffer.alloc(100 * 1024 * 1024 + 1), "large.bin");
    expect([large.status, large.body.code]).toEqual([413, "body_too_large"]);
    const gone = new AbortController();
    const parts = new ReadableStream<Uint8Array>({
      async pull(controller) {
        controller.enqueue(new Uint8Array(2 * 1024 * 1024));
        if ((await stored()) > 0) gone.abort();
      },
    });
    const headers = { authorization: `Bearer ${client.key}` };
    const init = { method: "POST", headers, body: parts, duplex: "half", signal: gone.signal };
    await expect(fetch(`${client.url}/agents/${agent}/uploads?name=a`, init as RequestInit)).rejects.toThrow();
    await expect.poll(stored).toBe(0);
  });

  test("is refused when the workspace has too many; those of ended turns are removed first", async () => {
    const used = await chat([text("hello"), file]);
    const database = await databaseOf(service);
    const fill = (size: number) =>
      sql`
      insert into uploads (id, agent_id, name, media_type, size, sha256, expires_at)
      select gen_random_uuid(), id, 'full', 'text/plain', ${size}, 'x', now() + interval '1 hour'
      from agents where name = ${agent}`.execute(database);
    try {
      const { rows } = await sql<{ total: string }>`select sum(size) as total from uploads`.execute(database);
      await fill(1024 ** 3 - Number(rows[0]!.total));
      expect((await upload("more", "more.txt")).status).toBe(201);
      const [{ id }] = (await turn(used.id)).attachments;
      expect((await client.call("GET", `/agents/${agent}/uploads/${id}`)).body.code).toBe("upload_not_found");
      await fill(1024 ** 3);
      const refused = await upload("more", "more.txt");
      expect([refused.status, refused.body.code]).toEqual([409, "uploads_full"]);
      expect((await chat([file])).body).toMatchObject({ code: "uploads_full" });
    } finally {
      await sql`delete from uploads where name = 'full'`.execute(database);
      await database.destroy();
    }
  });

  test("that a server left incomplete begins again with the same key", async () => {
    const database = await databaseOf(service);
    const key = { "idempotency-key": `upload-${agent}` };
    const send = () => client.call("POST", `/agents/${agent}/uploads?name=a.txt`, "bytes", key);
    const { body: first } = await send();
    // The server that received it died before it had answered.
    await sql`update uploads set sha256 = null where id = ${first.id}`.execute(database);
    await sql`update idempotency_keys set status = null, body = null, headers = null, leased_until = now()
      where resource_id = ${first.id}`.execute(database);
    await database.destroy();
    expect((await send()).body).toMatchObject({ id: first.id, size: 5 });
    expect(await uploads()).toHaveLength(1);
  });
});

/** The number of parts of the agent's uploads that are stored, complete or not. */
async function stored(): Promise<number> {
  const database = await databaseOf(service);
  const { rows } = await sql<{ count: string }>`
    select count(*) from uploads join upload_chunks on upload_id = uploads.id join agents on agents.id = agent_id
    where agents.name = ${agent}`.execute(database);
  await database.destroy();
  return Number(rows[0]!.count);
}

describe("a message is refused, with the part and what is allowed, if", () => {
  const unknown = "0b0e4b5c-58a3-4c34-9d10-7c2d8a1d2e3f";
  test.each([
    ["it has message and content", { message: "hi", content: [text("hi")] }, "Exactly one of message, content"],
    ["it has neither", {}, "Exactly one of message, content is required"],
    ["its content is empty", { content: [] }, "content must not be empty"],
    ["it has no text and no file", { content: [text("")] }, "content: A message must not be empty."],
    ["its text is too long", { content: [text("x".repeat(262_145)), file] }, "limited to 256 KiB"],
    ["its text has a null character", { content: [text("a\0"), file] }, "null characters"],
    ["it has 21 files", { content: Array(21).fill(file) }, "limited to 20 images and files; it has 21"],
    ["a part is of another type", { content: [{ type: "video", data: "AAAA" }] }, "content.0"],
    ["a part has data and fileId", { content: [text("a"), { ...file, fileId: unknown }] }, "content.1"],
    ["a part has neither", { content: [{ type: "image" }] }, "Exactly one of data, fileId is required"],
    ["a part has a url", { content: [{ ...file, url: "http://169.254.169.254/" }] }, "content.0"],
    ["its base64 is none", { content: [{ ...file, data: "no base64!" }] }, "content.0.data: this is not base64"],
    ["its base64 is cut", { content: [{ ...file, data: "AAAAA" }] }, "content.0.data: this is not base64"],
    ["a file is empty", { content: [{ ...file, data: "" }] }, "content.0.data: the file is empty"],
    ["fileId is no id", { content: [{ type: "file", fileId: "../x" }] }, "content.0.fileId"],
    [
      "mediaType is none",
      { content: [{ ...file, mediaType: "text" }] },
      "content.0.mediaType: A media type is TYPE/SUBTYPE",
    ],
    [
      "a name is too long",
      { content: [{ ...file, name: "x".repeat(1_001) }] },
      "content.0.name: A file name is limited",
    ],
    [
      "an image is none",
      { content: [text("a"), { ...image, data: base64("text") }] },
      "content.1: this is not an image",
    ],
    ["an image is another", { content: [{ ...image, data: base64(jpeg) }] }, "content.0: mediaType is image/png, but"],
    [
      "an image is cut",
      { content: [{ ...image, data: base64(png().subarray(0, 40)) }] },
      "content.0: the image/png is broken",
    ],
    ["an image is a bomb", { content: [{ ...image, data: base64(png(50_000, 50_000)) }] }, "50000 × 50000 pixels"],
  ])("%s", async (_, body, message) => {
    const { status, body: refusal } = await client.call("POST", `/agents/${agent}/chat`, body);
    expect([status, refusal.code]).toEqual([400, "request_invalid"]);
    expect(refusal.message).toContain(message);
    expect(await uploads()).toEqual([]);
    expect((await client.call("GET", `/agents/${agent}/turns`)).body.data).toEqual([]);
  });

  test("its upload is unknown, and the files before it are not kept", async () => {
    const refused = await chat([file, { type: "file", fileId: unknown }]);
    expect([refused.status, refused.body.code]).toEqual([404, "upload_not_found"]);
    expect(refused.body.message).toContain("content.1.fileId");
    expect(await uploads()).toEqual([]);
  });

  test("an uploaded image is too large for one", async () => {
    const { body } = await upload(Buffer.concat([png(), Buffer.alloc(10 * 1024 * 1024)]), "large.png");
    const refused = await chat([{ type: "image", fileId: body.id }]);
    expect(refused.body.message).toMatch(/^content\.0: the image has \d+ bytes\. An image is limited to 10 MiB/);
  });

  test("the request is larger than 8 MiB", async () => {
    const large = { ...file, data: base64(Buffer.alloc(6.5 * 1024 * 1024)) };
    const refused = await chat([large]);
    expect([refused.status, refused.body.code]).toEqual([413, "body_too_large"]);
    const fits = { ...file, data: base64(Buffer.alloc(5 * 1024 * 1024)) };
    expect((await chat([fits])).status).toBe(200);
  });

  test("the agent answers another one, and keeps nothing", async () => {
    const hanging = await client.fetch("POST", `/agents/${agent}/chat`, { message: "hang" });
    const refused = await chat([file]);
    expect(refused.body.code).toBe("turn_in_progress");
    expect(await uploads()).toEqual([]);
    await client.call("POST", `/agents/${agent}/turns/${hanging.headers.get("x-turn-id")}/cancel`);
    await hanging.body!.cancel();
  });
});
