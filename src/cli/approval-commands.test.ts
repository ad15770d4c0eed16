import type { Approval } from "@berth/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { json, ScriptedApi, turn } from "../../test/support/scripted-api.ts";

let api: ScriptedApi;
beforeAll(async () => {
  api = await ScriptedApi.listen();
});
beforeEach(() => api.clear());
afterAll(() => api[Symbol.dispose]());

function approval(id: string, changes: Partial<Approval> = {}): Approval {
  return {
    id,
    agent: "ada",
    turnId: "t1",
    kind: "execute",
    title: "Remove the build",
    subject: "rm -rf build\nrm -rf \u202e/",
    tool: "Bash",
    input: {},
    diff: null,
    status: "open",
    decision: null,
    message: null,
    decidedBy: null,
    decidedAt: null,
    requestedAt: "2026-01-02T03:04:05.678Z",
    expiresAt: "2026-01-03T03:04:05.678Z",
    ...changes,
  };
}
const shown = "execute: rm -rf build ↵ rm -rf \\u{202e}/";
const list = (...data: Approval[]) => [json({ data, nextCursor: null })];

test("approvals are listed with their whole command in a line", async () => {
  api.answers["GET /approvals?limit=50"] = list(approval("a1"));
  const { stdout } = await api.berth(["approvals", "list"]);
  expect(stdout).toMatch(/^ID +AGENT +ASKED +EXPIRES +TO\na1 +ada .*execute: rm -rf build/);
  api.answers["GET /approvals?limit=50&agent=ada"] = list();
  expect(await api.berth(["approvals", "list", "ada"])).toMatchObject({ code: 0, stdout: "" });
});

test("the only one is answered without its id, and one of many by the beginning of its id", async () => {
  api.answers["GET /approvals?limit=100&agent=ada"] = list(approval("a1"));
  api.answers["POST /agents/ada/turns/t1/approvals/a1"] = [json(approval("a1", { decision: "allow-always" }))];
  expect((await api.berth(["approvals", "allow", "ada", "--always"])).stderr).toBe(`ada may ${shown}\n`);
  api.answers["GET /approvals?limit=100&agent=ada"] = list(approval("a1"), approval("b2"));
  api.answers["POST /agents/ada/turns/t1/approvals/b2"] = [json(approval("b2", { decision: "deny" }))];
  expect((await api.berth(["approvals", "deny", "ada", "b", "-m", "No."])).stderr).toBe(`ada may not ${shown}\n`);
  const sent = api.seen.filter(({ method }) => method === "POST").map(({ body }) => JSON.parse(body));
  expect(sent).toEqual([{ decision: "allow-always" }, { decision: "deny", message: "No." }]);
});

test("without an id, several are listed and none is answered", async () => {
  api.answers["GET /approvals?limit=100&agent=ada"] = list(approval("a1"), approval("b2"));
  expect(await api.berth(["approvals", "allow", "ada"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`2 approvals of ada fit. Name one of:\n  a1  ${shown}\n  b2  ${shown}`),
  });
  api.answers["GET /approvals?limit=100&agent=ada"] = list();
  expect(await api.berth(["approvals", "allow", "ada"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("No approval of ada waits."),
  });
});

test("without a terminal, chat says that the turn waits and how to answer", async () => {
  const { agent: _, turnId: _turn, status: _status, ...request } = approval("7f1cdb32-5b1e-4d5e-8c52-0d5a0a2b7d10");
  api.answers["POST /agents/ada/chat"] = [
    turn([
      { type: "response.approval.requested", toolCallId: null, ...request },
      { type: "response.approval.resolved", id: request.id, decision: "deny" },
      { type: "response.completed" },
    ]),
  ];
  const { stderr } = await api.berth(["chat", "ada", "Clean up."]);
  expect(stderr).toContain(`ada wants to ${shown}. To answer: berth approvals allow|deny ada`);
});
