import { expect, test } from "vitest";
import { contextWith } from "../../test/support/context.ts";
import type { AgentState } from "../agents/agent.ts";
import type { GuestClient } from "../contract/guest-calls.ts";
import { GuestLeases } from "./guest-leases.ts";

function leases(): GuestLeases {
  return new GuestLeases(
    contextWith({
      machines: {
        guest: async () => ({}) as GuestClient,
        isRunning: async () => true,
        ended: () => new Promise(() => {}),
      },
      ledger: { requireCredits: async () => {} },
      reserve: { require: async () => {} },
      lifecycle: { requireSlot: () => {}, ready: async () => {}, watch: async function* () {} },
      idleness: { keepOpen: () => ({ [Symbol.dispose]: () => {} }) },
    }),
  );
}

const agentOf = (id: string) => ({ id, status: "ready", desired: "running", isHere: true }) as AgentState;
const caller = { accountId: "a", keyId: null };

test("requests beyond an agent's share of calls are refused, and only those", async () => {
  const all = leases();
  const answered = Promise.withResolvers<string>();
  const waiting = Array.from({ length: 100 }, () => all.use(agentOf("ada"), caller, () => answered.promise, "once"));
  await expect(all.use(agentOf("ada"), caller, async () => "late", "once")).rejects.toMatchObject({
    code: "too_many_requests",
    status: 429,
  });
  expect(await all.use(agentOf("bob"), caller, async () => "other", "once")).toBe("other");
  answered.resolve("done");
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(["done"]));
  expect(await all.use(agentOf("ada"), caller, async () => "again", "once")).toBe("again");
});
