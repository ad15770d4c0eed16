import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { ClineTask, ContinueSession, ZedThread } from "../support/code-editors.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// Cline's, Continue's and Zed's requests, with the settings that docs/clients.md has. The scripted runtime calls the client's
// functions (`call`) and says all messages of its conversation (`recall`).

let service: ScriptedService;
let model: string;
let number = 0;

beforeAll(async () => {
  service = await ScriptedService.start();
});
beforeEach(async () => {
  model = `agent-${++number}`;
  await service.client.createAgent(model);
});
afterAll(() => service[Symbol.asyncDispose]());

const place = () => ({ url: service.client.url, key: service.client.key, model });
const call = 'call read_file {"path":"a.md"}';
const turns = async () => (await service.client.call("GET", `/agents/${model}/turns`)).body.data;

test("a task of Cline reads a file on Cline's side, and continues with the user's feedback", async () => {
  const task = new ClineTask(place());
  const asked = await task.begin(call);
  expect(asked.calls).toEqual([{ id: expect.any(String), name: "read_file", arguments: '{"path":"a.md"}' }]);
  const read = await task.answer(asked.calls[0]!.id, "# A heading");
  expect(read).toMatchObject({ text: "# A heading", calls: [], totalTokens: expect.any(Number) });
  expect((await task.say("recall")).text).toContain("<task>");
  expect(await turns()).toHaveLength(2);
});

test("two tasks of Cline are two conversations", async () => {
  const [one, other] = [new ClineTask(place()), new ClineTask(place())];
  await one.begin("red");
  await other.begin("blue");
  const said = (await one.say("recall")).text;
  expect([said.includes("red"), said.includes("blue")]).toEqual([true, false]);
});

test("a session of Continue is answered, with its title apart", async () => {
  const session = new ContinueSession(place());
  expect(await session.models()).toContain(model);
  expect((await session.send("hello")).text).toBe("hello");
  expect((await session.title("hello")).text).toContain("3-4 words");
  expect((await session.send("recall")).text).toBe("hello\nrecall\n");
});

test("a thread of Zed reads a file on Zed's side, and gets its title", async () => {
  const thread = new ZedThread(place());
  const asked = await thread.send(call);
  expect(asked.calls).toMatchObject([{ name: "read_file", arguments: '{"path":"a.md"}' }]);
  expect(await thread.answer(asked.calls[0]!.id, "# A heading")).toMatchObject({ text: "# A heading", calls: [] });
  expect((await thread.title()).text).toContain("title");
});
