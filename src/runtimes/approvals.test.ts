import { expect, test } from "vitest";
import type { TurnEvent } from "../contract/chat.ts";
import { Permissions } from "../contract/permissions.ts";
import { Approvals, type ProposedUse } from "./approvals.ts";

const use = (subject: string, more: Partial<ProposedUse> = {}): ProposedUse => ({
  ...{ kind: "execute", subject, title: subject, tool: "Bash", toolCallId: "1", input: {}, diff: null },
  ...more,
});

/** A turn with these permissions, and its events. */
function begin(approvals: Approvals, turnId: string, permissions: object | null) {
  const events: TurnEvent[] = [];
  const cancel = new AbortController();
  if (permissions) approvals.prepare(turnId, Permissions.parse(permissions));
  approvals.begin({ turnId, emit: (event) => events.push(event), cancelled: cancel.signal, functions: ["weather"] });
  return { events, cancel };
}

const idIn = (events: TurnEvent[]) => {
  const last = events.findLast((event) => event.type === "response.approval.requested");
  return last!.id;
};

test("what a runtime does after a turn is bound by the turn's permissions, and is not asked about", async () => {
  const approvals = new Approvals();
  begin(approvals, "one", { execute: "ask", fetch: "deny" });
  approvals.end();
  expect(await approvals.mayUse(use("make"))).toBe(false);
  expect(await approvals.mayUse(use("example.com", { kind: "fetch" }))).toBe(false);
  expect(await approvals.mayUse(use("/a", { kind: "read" }))).toBe(true);
  begin(approvals, "two", null);
  expect(await approvals.mayUse(use("make"))).toBe(true);
  approvals.end();
  expect(await approvals.mayUse(use("make"))).toBe(true);
});

test("an answer is taken once, for the running turn, and may be repeated", async () => {
  const approvals = new Approvals();
  const { events } = begin(approvals, "one", { execute: "ask" });
  const used = approvals.mayUse(use("make"));
  const id = idIn(events);
  const allow = { decision: "allow", message: null } as const;
  expect(approvals.answer("two", id, allow)).toBe(false);
  expect(approvals.answer("one", crypto.randomUUID(), allow)).toBe(false);
  expect([approvals.answer("one", id, allow), approvals.answer("one", id, { ...allow, decision: "deny" })]).toEqual([
    true,
    true,
  ]);
  expect(await used).toBe(true);
  expect(events.at(-1)).toEqual({ type: "response.approval.resolved", id, decision: "allow" });
});

test("allow-always holds in the turn at once, for exactly that", async () => {
  const approvals = new Approvals();
  const { events } = begin(approvals, "one", { execute: "ask" });
  const used = approvals.mayUse(use("rm *"));
  approvals.answer("one", idIn(events), { decision: "allow-always", message: null });
  expect([await used, await approvals.mayUse(use("rm *"))]).toEqual([true, true]);
  void approvals.mayUse(use("rm a"));
  expect(events.at(-1)).toMatchObject({ subject: "rm a" });
});

test("a cancelled turn uses nothing that it has asked for", async () => {
  const approvals = new Approvals();
  const { events, cancel } = begin(approvals, "one", { execute: "ask" });
  const used = [approvals.mayUse(use("a")), approvals.mayUse(use("b"))];
  cancel.abort();
  expect(await Promise.all(used)).toEqual([false, false]);
  expect(events.slice(-2)).toMatchObject([{ decision: null }, { decision: null }]);
  expect(await approvals.mayUse(use("c"))).toBe(false);
});

test("what nobody could read whole is denied, and functions of the client are allowed", async () => {
  const approvals = new Approvals();
  const { events } = begin(approvals, "one", { execute: "ask", mcp: "deny" });
  const long = "x".repeat(200_000);
  expect(await approvals.mayUse(use(long))).toBe(false);
  expect(await approvals.mayUse(use("a", { input: { long } }))).toBe(false);
  expect(await approvals.mayUse(use("client/weather", { kind: "mcp", tool: "mcp__client__weather" }))).toBe(true);
  expect(await approvals.mayUse(use("client/other", { kind: "mcp", tool: "mcp__client__other" }))).toBe(false);
  expect(events).toEqual([]);
  void approvals.mayUse(
    use("a", { title: `${"t".repeat(999)}🚢`, diff: [{ path: "a", oldText: null, newText: long }] }),
  );
  expect(events).toMatchObject([{ title: `${"t".repeat(999)}\ufffd`, diff: null }]);
});
