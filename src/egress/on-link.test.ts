import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isOnLink, isPublic } from "./addresses.ts";
import { Policy } from "./policy.ts";

// A host with public addresses, as rented ones have.
const addresses = {
  eth0: [
    { address: "93.184.216.34", cidr: "93.184.216.34/26", family: "IPv4" },
    { address: "2a01:4f8:1:2::1", cidr: "2a01:4f8:1:2::1/64", family: "IPv6" },
    { address: "fe80::1%eth0", cidr: "fe80::1/64", family: "IPv6" },
    { address: "10.0.0.1", cidr: null, family: "IPv4" },
  ],
};

const { networkInterfaces } = os;
beforeAll(() => {
  os.networkInterfaces = () => addresses as unknown as ReturnType<typeof networkInterfaces>;
  syncBuiltinESMExports();
});
afterAll(() => {
  os.networkInterfaces = networkInterfaces;
  syncBuiltinESMExports();
});

test("neighbours in the host's own networks are not the internet, though their addresses are public", async () => {
  for (const [address, expected] of [
    ["93.184.216.34", true],
    ["93.184.216.1", true],
    ["93.184.216.62", true],
    ["93.184.216.64", false],
    ["93.184.217.1", false],
    ["2a01:4f8:1:2:ffff::9", true],
    ["2a01:4f8:1:3::1", false],
    ["10.0.0.1", false],
  ] as const) {
    expect([address, isOnLink(address)]).toEqual([address, expected]);
  }
  expect(isPublic("93.184.216.1")).toBe(true);
  const rules = { allow: ["*"], deny: [] };
  const policy = new Policy({ operator: rules, inside: [], own: () => [], lookUp: async () => [] });
  const asked = { host: { kind: "name", text: "neighbour.example" }, port: 443 } as const;
  expect(await policy.refuseAddresses(asked, ["93.184.216.1"], rules)).toBe("inside");
  expect(await policy.refuseAddresses(asked, ["93.184.217.1", "2a01:4f8:1:2::2"], rules)).toBe("inside");
  expect(await policy.refuseAddresses(asked, ["93.184.217.1"], rules)).toBe(null);
});
