import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../src/core/database/database.ts";
import { databaseOf } from "../support/accounts.ts";
import type { Answer, TestClient } from "../support/client.ts";
import { KillableService } from "../support/killable-service.ts";
import { killEachStep, type Operation } from "../support/killed-steps.ts";

// The same as `between-steps.test.ts` for conversations, files, limits and outputs of messages.

let service: KillableService;
let client: TestClient;
let database: Database;

beforeAll(async () => {
  service = await KillableService.start();
  client = service.client;
  database = await databaseOf(service);
});
afterAll(async () => {
  await database.destroy();
  await service[Symbol.asyncDispose]();
});

const killAtEachStep = (prefix: string, operation: Operation) => killEachStep(service, database, prefix, operation);

async function get(path: string) {
  const { status, body } = await client.call("GET", path);
  expect([status, body]).toEqual([200, body]);
  return body;
}

/** A turn from its start to its end, and no other for the message. */
async function turnSteps(agent: string, body: (name: string) => object, expected: object): Promise<void> {
  await client.createAgent(agent);
  const turns = new Set<string>();
  const steps = await killAtEachStep(agent, {
    act: async (name, headers) => {
      const response = await client.fetch("POST", `/agents/${agent}/chat`, body(name), headers);
      await response.text();
      return { status: response.status, headers: response.headers, body: null } as unknown as Answer;
    },
    found: async () => {},
    done: async (_, { status, headers }) => {
      expect(status).toBe(200);
      const turnId = headers.get("x-turn-id")!;
      turns.add(turnId);
      await expect.poll(async () => (await get(`/agents/${agent}/turns/${turnId}`)).finishedAt).not.toBeNull();
      expect(await get(`/agents/${agent}/turns/${turnId}`)).toMatchObject(expected);
      const { data } = await get(`/agents/${agent}/turns?limit=100`);
      expect(data.map(({ id }: { id: string }) => id).toSorted()).toEqual([...turns].toSorted());
    },
  });
  expect(steps).toBeGreaterThan(3);
}

test("a message with a file", { timeout: 600_000 }, async () => {
  const file = { type: "file", name: "notes.txt", data: Buffer.from("notes").toString("base64") };
  await turnSteps("fil", (name) => ({ content: [{ type: "text", text: name }, file] }), {
    status: "completed",
    attachments: [{ name: "notes.txt", size: 5 }],
  });
  for (const { id } of (await get("/agents/fil/turns?limit=100")).data) {
    const response = await client.fetch("GET", `/agents/fil/files/inbox/${id}/notes.txt`);
    expect([response.status, await response.text()]).toEqual([200, "notes"]);
  }
});

test("a message with a schema", { timeout: 600_000 }, async () => {
  const schema = { type: "object", properties: { name: { type: "string" } } };
  await turnSteps("out", (name) => ({ message: `give {"name":"${name}"}`, output: { schema } }), {
    status: "completed",
    output: { name: expect.stringMatching(/^out\d+$/) },
  });
});

test("a turn that a limit stops", { timeout: 600_000 }, async () => {
  await turnSteps("lim", () => ({ message: "steps 20", maxToolCalls: 5 }), {
    status: "failed",
    error: { code: "limit_reached", details: { reason: "tool_calls_limit", limit: 5 } },
  });
});

test("a new conversation", { timeout: 600_000 }, async () => {
  await client.createAgent("con");
  await client.chat("con", "before");
  const titled = async (title: string) =>
    (await get("/agents/con/conversations?limit=100")).data.filter((each: { title: string }) => each.title === title);
  const steps = await killAtEachStep("con", {
    act: (title, headers) => client.call("POST", "/agents/con/conversations", { title, current: true }, headers),
    found: async (title) => {
      const [conversation, ...others] = await titled(title);
      expect(others).toEqual([]);
      if (conversation) expect((await get("/agents/con")).conversation).toBe(conversation.id);
    },
    done: async (title, { status, body }) => {
      expect([status, body.title]).toEqual([201, title]);
      expect(await titled(title)).toMatchObject([{ id: body.id, current: true }]);
      expect((await get("/agents/con")).conversation).toBe(body.id);
      expect(await client.ask("con", "recall")).toBe("recall\n");
    },
  });
  expect(steps).toBeGreaterThan(2);
});

test("the end of a conversation", { timeout: 600_000 }, async () => {
  await client.createAgent("end");
  let id: number;
  const ids = async (): Promise<number[]> =>
    (await get("/agents/end/conversations?limit=100")).data.map((each: { id: number }) => each.id);
  const steps = await killAtEachStep("end", {
    prepare: async () => {
      id = (await get("/agents/end")).conversation;
      await client.chat("end", "before");
      await client.call("POST", "/agents/end/conversations", { current: true });
    },
    act: (_, headers) => client.call("DELETE", `/agents/end/conversations/${id}`, undefined, headers),
    found: async () => {
      const left = (await get(`/agents/end/turns?conversation=${id}`)).data;
      expect(left.length).toBe((await ids()).includes(id) ? 1 : 0);
    },
    done: async (_, { status }) => {
      expect([204, 404]).toContain(status); // Deleted before the death.
      expect(await ids()).not.toContain(id);
      expect((await get(`/agents/end/turns?conversation=${id}`)).data).toEqual([]);
    },
  });
  expect(steps).toBeGreaterThan(1);
});
