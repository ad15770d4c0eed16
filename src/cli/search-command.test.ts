import type { SearchMatch } from "@berth/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { json, refuse, ScriptedApi } from "../../test/support/scripted-api.ts";

let api: ScriptedApi;
beforeAll(async () => {
  api = await ScriptedApi.listen();
});
beforeEach(() => api.clear());
afterAll(() => api[Symbol.dispose]());

const match: SearchMatch = {
  agent: "ada",
  conversation: { id: 2, title: "Release notes" },
  turnId: "3f0d5c2e-8a44-4e0e-9a7c-2a9b1f3c4d5e",
  kind: "reply",
  createdAt: "2026-01-02T03:04:00.000Z",
  excerpt: "The gateway is\u001b[31m up.",
  matches: [{ start: 4, end: 11 }],
};
const paths = {
  two: "/search?limit=2&q=gateway+%22is+up%22&agent=ada",
  x: "/search?limit=20&q=x",
  bad: "/search?limit=20&q=%3F%21",
};
const older = {
  ...match,
  conversation: { id: 1, title: null },
  kind: "message" as const,
  excerpt: "Gateway?",
  matches: [],
};

test("matches are shown with their place and excerpt, newest last", async () => {
  api.answers[`GET ${paths.two}`] = [json({ data: [match, older], nextCursor: "next" })];
  const { code, stdout, stderr } = await api.berth(["search", "gateway", '"is up"', "--agent", "ada", "-n", "2"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "There are older matches: --limit shows more.\n" });
  expect(stdout.replaceAll(/^\d{4}-\d\d-\d\d \d\d:\d\d/gm, "TIME")).toBe(
    `TIME  ada, conversation 1\nmessage of turn ${match.turnId}\n  Gateway?\n\n` +
      `TIME  ada, conversation 2 Release notes\nreply of turn ${match.turnId}\n  The gateway is\ufffd[31m up.\n`,
  );
});

test("without a match it says so, and JSON is the API's", async () => {
  api.answers[`GET ${paths.x}`] = [json({ data: [], nextCursor: null })];
  expect(await api.berth(["search", "x"])).toEqual({ code: 0, stdout: "", stderr: "No message or reply matches.\n" });
  const { stdout } = await api.berth(["search", "x", "--json"]);
  expect(JSON.parse(stdout)).toEqual({ data: [], nextCursor: null });
});

test("a refused search is an error", async () => {
  api.answers[`GET ${paths.bad}`] = [refuse(400, "q: has no letter, digit or emoji to search for.", "request_invalid")];
  const { code, stderr } = await api.berth(["search", "?!"]);
  expect(code).toBe(1);
  expect(stderr).toContain("no letter, digit or emoji");
});
