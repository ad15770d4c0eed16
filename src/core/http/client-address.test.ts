import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { clientAddress } from "./client-address.ts";

const trusted = ["127.0.0.1", "10.0.0.0/8", "fd00::/8"];

test.each([
  ["203.0.113.1", "198.51.100.1", "203.0.113.1"],
  ["127.0.0.1", undefined, "127.0.0.1"],
  ["127.0.0.1", "198.51.100.1", "198.51.100.1"],
  ["::ffff:127.0.0.1", "198.51.100.1", "198.51.100.1"],
  ["127.0.0.1", "192.0.2.9, 198.51.100.1", "198.51.100.1"],
  ["127.0.0.1", "192.0.2.9, 198.51.100.1, 10.1.2.3", "198.51.100.1"],
  ["fd00::1", "2001:db8::5", "2001:db8::5"],
  ["127.0.0.1", "forged, nonsense", "nonsense"],
  ["127.0.0.1", " , ", "127.0.0.1"],
])("a request from %s, forwarded for %s, is from %s", (remoteAddress, forwarded, client) => {
  const headers = forwarded === undefined ? {} : { "x-forwarded-for": forwarded };
  expect(clientAddress({ socket: { remoteAddress }, headers } as IncomingMessage, trusted)).toBe(client);
});

test("no header is believed without trusted proxies", () => {
  const request = { socket: { remoteAddress: "127.0.0.1" }, headers: { "x-forwarded-for": "198.51.100.1" } };
  expect(clientAddress(request as unknown as IncomingMessage, [])).toBe("127.0.0.1");
});
