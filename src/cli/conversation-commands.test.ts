import type { Conversation } from "@berth/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { json, ScriptedApi, turn } from "../../test/support/scripted-api.ts";

let api: ScriptedApi;
beforeAll(async () => {
  api = await ScriptedApi.listen();
});
beforeEach(() => api.clear());
afterAll(() => api[Symbol.dispose]());

function conversation(id: number, changes: Partial<Conversation> = {}): Conversation {
  return {
    id,
    title: null,
    current: false,
    forkedFrom: null,
    createdBy: null,
    createdAt: "2026-01-02T03:04:05.678Z",
    lastTurnAt: null,
    ...changes,
  };
}

test("conversations are listed with their titles in a line", async () => {
  const data = [conversation(2, { title: "Release \u202e notes" }), conversation(1, { current: true })];
  api.answers["GET /agents/ada/conversations?limit=50"] = [json({ data, nextCursor: null })];
  const { stdout } = await api.berth(["conversations", "list", "ada"]);
  expect(stdout).toMatch(/^NUMBER +CURRENT +ACTIVE +TITLE\n2 .*Release � notes\n1 +yes /);
});

test("one is created, renamed, made current and deleted", async () => {
  api.answers["POST /agents/ada/conversations"] = [json(conversation(3), 201)];
  const created = await api.berth(["conversations", "new", "ada", "Notes", "--use", "--from", "6f0c9a8e"]);
  expect(created.stderr).toContain("--conversation 3");
  expect(JSON.parse(api.seen.at(-1)!.body)).toEqual({ title: "Notes", current: true, from: { turn: "6f0c9a8e" } });
  api.answers["PATCH /agents/ada/conversations/3"] = [
    json(conversation(3, { title: "Notes" })),
    json(conversation(3, { current: true })),
  ];
  expect((await api.berth(["conversations", "rename", "ada", "3", "Notes"])).stderr).toContain("Notes");
  expect((await api.berth(["conversations", "use", "ada", "3"])).stderr).toContain("go to conversation 3 now");
  api.answers["DELETE /agents/ada/conversations/3"] = [(response) => response.writeHead(204).end()];
  expect((await api.berth(["conversations", "delete", "ada", "3"])).code).not.toBe(0);
  expect((await api.berth(["conversations", "delete", "ada", "3", "--yes"])).stderr).toContain(
    "Deleted conversation 3",
  );
});

test("a message goes to the conversation that the command names", async () => {
  api.answers["POST /agents/ada/chat"] = [turn([{ type: "response.completed" }])];
  expect((await api.berth(["chat", "ada", "hello", "--conversation", "7"])).code).toBe(0);
  expect(JSON.parse(api.seen.at(-1)!.body)).toMatchObject({ message: "hello", conversation: 7 });
  expect((await api.berth(["chat", "ada", "hello", "--conversation", "none"])).stderr).toContain("whole number");
});
