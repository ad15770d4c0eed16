import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { BerthError, type ErrorCode } from "../contract/errors.ts";
import type { GuestClient } from "../contract/guest-calls.ts";
import type { AgentState } from "./agent.ts";
import { GuestLeases } from "./guest-leases.ts";

const agent = { id: "1", isHere: true, status: "ready" } as AgentState;
const caller = { accountId: "1", keyId: null };

/** Leases of a machine whose connection fails with these codes first. */
function leasesThatFail(...codes: ErrorCode[]): GuestLeases {
  return new GuestLeases({
    machines: {
      guest: async () => {
        const code = codes.shift();
        if (code) throw new BerthError(code, code);
        return {} as GuestClient;
      },
      isRunning: async () => true,
      ended: () => new Promise(() => {}),
    },
    requireCredits: async () => {},
    requireSpace: async () => {},
    lifecycle: {
      requireSlot: () => {},
      ready: async () => {},
      watch: async function* () {},
      idleness: { keepOpen: () => ({ [Symbol.dispose]: () => {} }) },
    },
  });
}

test("a call is made again where the machine has just ended, and nobody has noticed yet", async () => {
  const leases = leasesThatFail("machine_lost", "machine_failed");
  expect(await leases.use(agent, caller, async () => "done", "again")).toBe("done");
  const opened = await leasesThatFail("machine_lost").open(agent, caller, async () => new PassThrough());
  opened.held[Symbol.dispose]();
});

test("a call that may be made once only is not made again, and a refusal is an answer", async () => {
  const once = leasesThatFail("machine_lost").use(agent, caller, async () => "done", "once");
  await expect(once).rejects.toMatchObject({ code: "machine_lost" });
  const refused = leasesThatFail("file_not_found").use(agent, caller, async () => "done", "again");
  await expect(refused).rejects.toMatchObject({ code: "file_not_found" });
});
