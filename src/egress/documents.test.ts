import { createSocket } from "node:dgram";
import dns from "node:dns";
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { fetchPublicDocument, publicAddresses } from "./documents.ts";

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

test("a name without public addresses is refused", async () => {
  const never = new AbortController().signal;
  await expect(publicAddresses("localhost", never)).rejects.toThrow();
});

test("look-ups of names that strangers give occupy no thread, and end with their time", async () => {
  const silent = createSocket("udp4");
  silent.bind(0, "127.0.0.1");
  await once(silent, "listening");
  const before = dns.getServers();
  dns.setServers([`127.0.0.1:${silent.address().port}`]);
  try {
    const over = new AbortController();
    const slow = Array.from({ length: 20 }, (_, at) => publicAddresses(`${at}.slow.example`, over.signal));
    const failed = Promise.allSettled(slow);
    await once(silent, "message");
    // All four threads are free for the operator's names.
    expect(await lookup("localhost")).toBeTruthy();
    over.abort();
    for (const { status } of await failed) expect(status).toBe("rejected");
  } finally {
    dns.setServers(before);
    silent.close();
  }
});
