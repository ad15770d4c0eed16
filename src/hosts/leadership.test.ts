import { expect, test } from "vitest";
import { Leadership } from "./leadership.ts";
import type { HostLease } from "./lease-store.ts";

/** The lease of one host that nobody else asks for. */
class OneLease {
  lease: HostLease | null = null;

  async all() {
    return this.lease ? [this.lease] : [];
  }

  async take(asked: { host: string; server: string; url: string }) {
    this.lease = { ...asked, epoch: 1, isValid: true, restedMs: 0, isReleased: false };
    return this.lease.epoch;
  }

  async renew() {
    return true;
  }

  async release() {
    this.lease = { ...this.lease!, isReleased: true };
  }

  async endSessions() {}

  async hostOf() {
    return null;
  }
}

test("a server that ends while it takes over gives back the lease and the lock", async () => {
  const rows = new OneLease();
  const [asked, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let isLocked = false;
  const lock = {
    goneHolder: async () => null,
    take: async () => {
      asked.resolve();
      await free.promise;
      isLocked = true;
    },
    release: async () => {
      isLocked = false;
    },
  };
  const options = { host: "here", server: "one", rows, lock, lead: async () => {}, log: () => {} };
  const leadership = new Leadership(options);
  const begun = leadership.begin("http://one");
  await asked.promise;
  const ended = leadership.end(async () => {});
  free.resolve();
  await Promise.all([begun, ended]);
  expect({ leads: leadership.leads, isLocked, lease: rows.lease }).toMatchObject({
    leads: false,
    isLocked: false,
    lease: { isReleased: true },
  });
});
