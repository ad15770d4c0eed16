import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { fetchPublicDocument, lookupPublic } from "./documents.ts";

test("only documents of the public internet are fetched", async () => {
  const connected: unknown[] = [];
  const server = createServer((socket) => connected.push(socket.destroy())).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const refused = [
    "http://example.com/client.json",
    `https://127.0.0.1:${port}/client.json`,
    "https://127.0.0.1/client.json",
    "https://[::1]/client.json",
    "https://0x7f000001/client.json",
    "https://169.254.169.254/latest/meta-data",
    `https://localhost:${port}/client.json`,
    "https://localhost/client.json",
    "file:///etc/passwd",
  ];
  for (const url of refused) await expect(fetchPublicDocument(url), url).rejects.toThrow();
  expect(connected).toEqual([]);
  server.close();
});

test("a name is resolved to public addresses or not at all", async () => {
  const found = Promise.withResolvers<Error | null>();
  lookupPublic("localhost", { all: true }, (error) => found.resolve(error));
  expect((await found.promise)?.message).toBe("localhost is not on the public internet");
});
