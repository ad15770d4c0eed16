import type { NetworkLogEntry } from "@berth/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { json, refuse, ScriptedApi } from "../../test/support/scripted-api.ts";

let api: ScriptedApi;
beforeAll(async () => {
  api = await ScriptedApi.listen();
});
beforeEach(() => api.clear());
afterAll(() => api[Symbol.dispose]());

const operator = { allow: ["*"], deny: [] };
const network = { allow: ["*.example.com", "[2001:db8::]:443"], deny: [], operator };

test("the lists are shown, the operator's among them", async () => {
  api.answers["GET /agents/ada/network"] = [json(network)];
  expect(await api.berth(["agents", "network", "get", "ada"])).toEqual({
    code: 0,
    stderr: "",
    stdout: [
      "allow             *.example.com, [2001:db8::]:443\n",
      "deny              nothing\n",
      "on neither list   refuse\n",
      "operator's allow  *\n",
      "operator's deny   nothing\n",
    ].join(""),
  });
  const { stdout } = await api.berth(["agents", "network", "get", "ada", "--json"]);
  expect(JSON.parse(stdout)).toEqual(network);
});

test("a person is asked, and a destination is allowed or denied in addition", async () => {
  const before = { allow: ["a.com"], deny: ["b.com"], ask: true, operator };
  api.answers["GET /agents/ada/network"] = [json(before)];
  api.answers["PUT /agents/ada/network"] = [json(before)];
  const { stdout } = await api.berth(["agents", "network", "set", "ada", "--ask"]);
  expect(stdout).toContain("on neither list   ask\n");
  await api.berth(["agents", "network", "set", "ada", "--no-ask"]);
  await api.berth(["agents", "network", "allow", "ada", "b.com", "c.com:443", "a.com"]);
  await api.berth(["agents", "network", "deny", "ada", "a.com"]);
  const sent = api.seen.filter(({ method }) => method === "PUT").map(({ body }) => JSON.parse(body));
  expect(sent).toEqual([
    { allow: ["a.com"], deny: ["b.com"], ask: true },
    { allow: ["a.com"], deny: ["b.com"], ask: false },
    { allow: ["a.com", "b.com", "c.com:443"], deny: [] },
    { allow: [], deny: ["b.com", "a.com"] },
  ]);
});

test("a list that is not given stays as it was", async () => {
  api.answers["GET /agents/ada/network"] = [json({ allow: ["*"], deny: ["bad.example.com"], operator })];
  api.answers["PUT /agents/ada/network"] = [json(network)];
  const set = (...options: string[]) => api.berth(["agents", "network", "set", "ada", ...options]);
  expect((await set("--allow", "a.com", "--allow", "b.com:443", "--json")).stdout).toBe(`${JSON.stringify(network)}\n`);
  await set("--deny", "*");
  await set("--allow-all", "--deny-nothing");
  const sent = api.seen.filter(({ method }) => method === "PUT").map(({ body }) => JSON.parse(body));
  expect(sent).toEqual([
    { allow: ["a.com", "b.com:443"], deny: ["bad.example.com"] },
    { allow: ["*"], deny: ["*"] },
    { allow: ["*"], deny: [] },
  ]);
});

test("nothing to set, and one and the other at once, are wrong use; a rule that is none is refused by the service", async () => {
  const set = (...options: string[]) => api.berth(["agents", "network", "set", "ada", ...options]);
  expect(await set()).toMatchObject({ code: 2, stdout: "" });
  expect(await set("--allow", "a.com", "--allow-all")).toMatchObject({ code: 2, stdout: "" });
  expect(await set("--deny", "a.com", "--deny-nothing")).toMatchObject({ code: 2, stdout: "" });
  expect(api.seen).toEqual([]);
  api.answers["PUT /agents/ada/network"] = [refuse(400, "allow.0: Not a valid rule.", "request_invalid")];
  const refused = await set("--allow", "http://a.com", "--deny-nothing");
  expect(refused).toEqual({ code: 1, stdout: "", stderr: "berth: allow.0: Not a valid rule.\n" });
});

function entry(changes: Partial<NetworkLogEntry>): NetworkLogEntry {
  return {
    id: "id",
    startedAt: "2026-01-02T03:04:05.678Z",
    finishedAt: "2026-01-02T03:04:06.678Z",
    verdict: "allowed",
    reason: null,
    outcome: "closed",
    host: "example.com",
    port: 443,
    address: "93.184.215.14",
    bytesSent: 517,
    bytesReceived: 20_480,
    count: 1,
    ...changes,
  };
}

test("the log is shown with the newest last", async () => {
  const nothing = { outcome: null, address: null, bytesSent: 0, bytesReceived: 0 };
  const data = [
    entry({ verdict: "refused", reason: "inside", host: "::1", port: 80, count: 7, ...nothing }),
    entry({ verdict: "refused", reason: "too_many", host: "*", port: null, count: 90, ...nothing }),
    entry({}),
  ];
  api.answers["GET /agents/ada/network/log?limit=3"] = [json({ data, nextCursor: "next" })];
  expect(await api.berth(["agents", "network", "log", "ada", "-n", "3"])).toEqual({
    code: 0,
    stderr: "There are older connections: --limit shows more.\n",
    stdout: [
      "TIME              TO               ADDRESS        OUTCOME            SENT  RECEIVED  COUNT\n",
      "2026-01-02 03:04  example.com:443  93.184.215.14  closed             517   20480     1\n",
      "2026-01-02 03:04  *                               refused: too_many  0     0         90\n",
      "2026-01-02 03:04  [::1]:80                        refused: inside    0     0         7\n",
    ].join(""),
  });
  api.answers["GET /agents/ada/network/log?limit=3&verdict=refused"] = [json({ data: [], nextCursor: null })];
  const none = await api.berth(["agents", "network", "log", "ada", "-n", "3", "--verdict", "refused"]);
  expect(none).toEqual({ code: 0, stdout: "", stderr: "ada has made no connections yet.\n" });
  expect((await api.berth(["agents", "network", "log", "ada", "--verdict", "maybe"])).code).toBe(2);
});
