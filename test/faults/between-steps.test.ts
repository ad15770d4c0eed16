import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../src/core/database/database.ts";
import { databaseOf } from "../support/accounts.ts";
import { importArchive } from "../support/archives.ts";
import type { Answer, TestClient } from "../support/client.ts";
import { KillableService } from "../support/killable-service.ts";
import { killEachStep, type Operation } from "../support/killed-steps.ts";

// A server that is killed between any two steps of a request that makes something whole of several parts, and another one
// that takes over. Either nothing is there then, or all of it; the same request with the same key gets the right answer.
// `test/faults/crash.test.ts` does the same with the machine's own steps.

let service: KillableService;
let client: TestClient;
let database: Database;

beforeAll(async () => {
  service = await KillableService.start();
  client = service.client;
  database = await databaseOf(service);
  await client.createAgent("fun");
  await client.createAgent("ada");
  await client.call("PUT", "/agents/ada/network", { allow: ["example.com"], deny: ["*.example.org"] });
  await client.call("PUT", "/agents/ada/secrets/TOKEN", { value: "very-secret-value", hosts: ["api.example.com"] });
  await client.chat("ada", "one");
});
afterAll(async () => {
  await database.destroy();
  await service[Symbol.asyncDispose]();
});

/** Kills the server at the first step of the operation, at its second, …, until it is done before it comes to the step. */
const killAtEachStep = (prefix: string, operation: Operation) => killEachStep(service, database, prefix, operation);

async function get(path: string) {
  const { status, body } = await client.call("GET", path);
  expect([status, body]).toEqual([200, body]);
  return body;
}

const agents = async (): Promise<string[]> =>
  (await get("/agents?limit=100")).data.map(({ name }: { name: string }) => name);

/** An agent has the rules of its source, answers, and knows this of the conversation. */
async function expectWhole(name: string, secrets: string[], recalled: string): Promise<void> {
  expect(await get(`/agents/${name}/network`)).toMatchObject({ allow: ["example.com"], deny: ["*.example.org"] });
  const kept = (await get(`/agents/${name}/secrets`)).data;
  expect(kept.map((each: { name: string }) => each.name)).toEqual(secrets);
  await client.call("POST", `/agents/${name}/resume?wait=ready`);
  expect(await client.ask(name, "recall")).toBe(recalled);
}

const deleteAll = async (names: readonly string[]) => {
  for (const name of names) expect((await client.call("DELETE", `/agents/${name}`)).status).toBe(204);
};

test("forks with rules and secrets", { timeout: 600_000 }, async () => {
  const both = (name: string) => [`${name}-1`, `${name}-2`];
  const steps = await killAtEachStep("fox", {
    act: (name, headers) =>
      client.call("POST", "/agents?wait=ready", { name, from: { agent: "ada", secrets: true }, count: 2 }, headers),
    found: async (name) => {
      const there = (await agents()).filter((each) => each.startsWith(`${name}-`));
      expect([[], both(name)]).toContainEqual(there.toSorted());
      for (const each of there) await expectRows(each);
    },
    done: async (name, answer) => {
      expect([answer.status, answer.body.name]).toEqual([201, `${name}-1`]);
      for (const each of both(name)) await expectWhole(each, ["TOKEN"], "one\nrecall\n");
    },
    remove: (name) => deleteAll(both(name)),
  });
  expect(steps).toBeGreaterThan(10);
});

test("an import", { timeout: 600_000 }, async () => {
  const exported = await client.fetch("GET", "/agents/ada/export");
  const archive = Buffer.from(await exported.arrayBuffer());
  const turns = async (name: string) => (await get(`/agents/${name}/turns`)).data;
  const steps = await killAtEachStep("imp", {
    act: (name, headers) => importArchive(client, archive, { query: `?name=${name}&wait=ready`, headers }),
    found: async (name) => {
      if (!(await agents()).includes(name)) return;
      expect(await get(`/agents/${name}/network`)).toMatchObject({ allow: ["example.com"], deny: ["*.example.org"] });
      expect(await turns(name)).toHaveLength(1);
    },
    done: async (name, answer) => {
      expect([answer.status, answer.body.agent.name]).toEqual([201, name]);
      await expectWhole(name, [], "one\nrecall\n");
      expect(await turns(name)).toHaveLength(2);
    },
    remove: (name) => deleteAll([name]),
  });
  expect(steps).toBeGreaterThan(5);
});

test("a snapshot", { timeout: 600_000 }, async () => {
  const snapshots = async () => (await get("/agents/ada/snapshots")).data.map(({ name }: { name: string }) => name);
  const steps = await killAtEachStep("kept", {
    act: (name, headers) => client.call("POST", "/agents/ada/snapshots", { name }, headers),
    found: async (name) => expect([[], [name]]).toContainEqual(await snapshots()),
    done: async (name, answer) => {
      expect([answer.status, answer.body.name]).toEqual([201, name]);
      expect(await snapshots()).toEqual([name]);
      const fork = { name: `of-${name}`, from: { agent: "ada", snapshot: name } };
      expect((await client.call("POST", "/agents?wait=ready", fork)).status).toBe(201);
      await expectWhole(fork.name, [], "one\nrecall\n");
      await deleteAll([fork.name]);
    },
    remove: async (name) => {
      expect((await client.call("DELETE", `/agents/ada/snapshots/${name}`)).status).toBe(204);
    },
  });
  expect(steps).toBeGreaterThan(3);
});

test("a rollback", { timeout: 600_000 }, async () => {
  await client.createAgent("eve");
  await client.chat("eve", "one");
  await client.call("POST", "/agents/eve/snapshots", { name: "first" });
  const before = async () =>
    (await get("/agents/eve/snapshots")).data.filter(({ reason }: { reason: string }) => reason === "rollback");
  const messages = async (undone: boolean): Promise<string[]> =>
    (await get("/agents/eve/turns?limit=100")).data
      .filter((turn: { undone: boolean }) => turn.undone === undone)
      .map(({ message }: { message: string }) => message);
  const steps = await killAtEachStep("back", {
    prepare: async () => {
      for (const { id } of await before()) await client.call("DELETE", `/agents/eve/snapshots/${id}`);
      await client.chat("eve", "two");
    },
    act: (_, headers) => client.call("POST", "/agents/eve/rollback?wait=ready", { snapshot: "first" }, headers),
    found: async () => {
      const isBack = !(await messages(false)).includes("two");
      expect((await before()).length).toBe(isBack ? 1 : 0);
    },
    done: async (_, answer) => {
      expect([answer.status, answer.body.name]).toEqual([200, "eve"]);
      expect(await before()).toHaveLength(1);
      expect(await messages(false)).not.toContain("two");
      await client.call("POST", "/agents/eve/resume?wait=ready");
      expect(await client.ask("eve", "recall")).toBe("one\nrecall\n");
      // And to what it was: nothing of that is lost.
      await client.call("POST", "/agents/eve/rollback?wait=ready", { snapshot: (await before())[0].id });
      expect(await client.ask("eve", "recall")).toContain("two\nrecall\n");
      await client.call("POST", "/agents/eve/rollback?wait=ready", { snapshot: "first" });
    },
  });
  expect(steps).toBeGreaterThan(8);
});

const weather = { type: "function", name: "weather", parameters: { type: "object", properties: {} } };

test("a response whose agent calls a function", { timeout: 600_000 }, async () => {
  const steps = await killAtEachStep("call", {
    act: (_, headers) => client.call("POST", "/v1/responses", { ...asked, input: "call weather" }, headers),
    found: async () => {},
    done: async (_, answer) => {
      expect(answer.body).toMatchObject({ status: "completed", output: [{ type: "function_call", name: "weather" }] });
      const { call_id, ...rest } = await resultFor(answer);
      const second = await client.call("POST", "/v1/responses", { ...asked, ...rest });
      expect(textOf(second)).toBe(`result of ${call_id}`);
      expect((await get("/agents/fun/turns?limit=1")).data).toMatchObject([{ reply: `result of ${call_id}` }]);
    },
  });
  expect(steps).toBeGreaterThan(5);
});

test("a function's result", { timeout: 600_000 }, async () => {
  let result: Awaited<ReturnType<typeof resultFor>>;
  const turnsBefore = new Set<string>();
  const steps = await killAtEachStep("result", {
    prepare: async () => {
      const first = await client.call("POST", "/v1/responses", { ...asked, input: "call weather" });
      result = await resultFor(first);
      turnsBefore.add(first.headers.get("x-turn-id")!);
    },
    act: (_, headers) => {
      const { call_id: _id, ...rest } = result;
      return client.call("POST", "/v1/responses", { ...asked, ...rest }, headers);
    },
    found: async () => {},
    done: async (_, answer) => {
      expect(answer.body).toMatchObject({ status: "completed" });
      expect(textOf(answer)).toBe(`result of ${result.call_id}`);
      const stored = await get(`/v1/responses/${answer.body.id}`);
      expect(stored.output).toEqual(answer.body.output);
      expect(turnsBefore).toContain(answer.headers.get("x-turn-id"));
    },
  });
  expect(steps).toBeGreaterThan(3);
});

test("a turn that asks for an approval", { timeout: 600_000 }, async () => {
  await client.createAgent("shy", { permissions: { execute: "ask" } });
  const steps = await killAtEachStep("ask", {
    act: async (_, headers) => {
      const body = { message: "use execute make", whenBusy: "reject" };
      const response = await client.fetch("POST", "/agents/shy/chat", body, headers);
      void response.text().catch(() => {});
      // Steps follow until the approval can be read.
      await expect.poll(async () => (await get("/approvals?agent=shy")).data.length, { timeout: 30_000 }).toBe(1);
      return { status: response.status, headers: response.headers, body: null } as unknown as Answer;
    },
    found: async () => {},
    done: async (_, { status, headers }) => {
      expect(status).toBe(200);
      const turnId = headers.get("x-turn-id");
      const { data } = await get("/approvals?agent=shy");
      expect(data).toMatchObject([{ turnId, subject: "make", status: "open" }]);
      await answerOf(data[0], "allow");
      await expect.poll(async () => (await get(`/agents/shy/turns/${turnId}`)).status).toBe("completed");
      expect(await get(`/agents/shy/turns/${turnId}`)).toMatchObject({ reply: "used" });
    },
  });
  expect(steps).toBeGreaterThan(3);
});

test("an approval's answer", { timeout: 600_000 }, async () => {
  await client.createAgent("sly", { permissions: { execute: "ask" } });
  let open: OpenApproval;
  const steps = await killAtEachStep("answer", {
    prepare: async () => {
      const response = await client.fetch("POST", "/agents/sly/chat", { message: "use execute make" });
      void response.text().catch(() => {});
      await expect.poll(async () => (await get("/approvals?agent=sly")).data.length).toBe(1);
      [open] = (await get("/approvals?agent=sly")).data;
    },
    act: async (_, headers) => {
      const answer = await answerOf(open, "allow", headers);
      // Steps follow until the turn has ended.
      await expect
        .poll(async () => (await get(`/agents/sly/turns/${open.turnId}`)).status, { timeout: 30_000 })
        .toBe("completed");
      return answer;
    },
    found: async () => {
      const { data } = await get(`/agents/sly/turns/${open.turnId}/approvals`);
      expect(data).toHaveLength(1);
    },
    done: async (_, answer) => {
      expect([answer.status, answer.body.decision]).toEqual([200, "allow"]);
      expect(await get(`/agents/sly/turns/${open.turnId}`)).toMatchObject({ status: "completed", reply: "used" });
    },
  });
  expect(steps).toBeGreaterThan(5);
});

test("a queue that continues", { timeout: 600_000 }, async () => {
  await client.createAgent("que");
  const turns = async () => (await get("/agents/que/turns?limit=2")).data;
  const steps = await killAtEachStep("queue", {
    act: async (name) => {
      const sent = ["count 5 20", name].map(async (message, index) => {
        const headers = { "idempotency-key": `${name} ${index}` };
        const response = await client.fetch("POST", "/agents/que/chat", { message, whenBusy: "queue" }, headers);
        void response.text().catch(() => {});
        return response;
      });
      const [first] = await Promise.all(sent);
      // Steps follow until both have ended.
      await expect
        .poll(async () => (await turns()).map(({ status }: { status: string }) => status), { timeout: 30_000 })
        .toEqual(["completed", "completed"]);
      return { status: first!.status, headers: first!.headers, body: null } as unknown as Answer;
    },
    found: async () => {},
    done: async (name, { status }) => {
      expect(status).toBe(200);
      const messages = (await turns()).map(({ message }: { message: string }) => message);
      expect(messages.toSorted()).toEqual(["count 5 20", name]);
      expect(await get("/agents/que/queue")).toEqual({ held: null, data: [] });
    },
  });
  expect(steps).toBeGreaterThan(5);
});

interface OpenApproval {
  id: string;
  agent: string;
  turnId: string;
}

function answerOf({ id, agent, turnId }: OpenApproval, decision: string, headers = {}): Promise<Answer> {
  return client.call("POST", `/agents/${agent}/turns/${turnId}/approvals/${id}`, { decision }, headers);
}

const asked = { model: "fun", tools: [weather] };

/** The request that gives the response's function its result. */
async function resultFor({ body }: Answer) {
  expect(body).toMatchObject({ output: [{ type: "function_call" }] });
  const [{ call_id }] = body.output as [{ call_id: string }];
  const input = [{ type: "function_call_output", call_id, output: `result of ${call_id}` }];
  return { call_id, input, previous_response_id: body.id as string };
}

function textOf({ body }: Answer): string {
  expect(body).toMatchObject({ status: "completed", output: [{ type: "message" }] });
  const { content } = body.output.find(({ type }: { type: string }) => type === "message");
  return content[0].text;
}

/** A fork's content as soon as it exists. */
async function expectRows(name: string): Promise<void> {
  expect(await get(`/agents/${name}/network`)).toMatchObject({ allow: ["example.com"], deny: ["*.example.org"] });
  expect((await get(`/agents/${name}/secrets`)).data).toMatchObject([{ name: "TOKEN" }]);
}
