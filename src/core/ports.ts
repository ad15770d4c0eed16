import { randomInt } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";

const firstPort = 10_000;
const triesBelow = 50;

/**
 * A free port on 127.0.0.1, if possible below the ephemeral range, whose ports the system may reuse at once. Another
 * program may still bind it first.
 */
export async function freePort(): Promise<number> {
  const end = await firstEphemeralPort();
  for (let tries = 0; tries < triesBelow && end > firstPort; tries++) {
    const port = await listenBriefly(randomInt(firstPort, end)).catch(() => null);
    if (port !== null) return port;
  }
  return listenBriefly(0);
}

/** Linux's range of ephemeral ports; ip(7). */
async function firstEphemeralPort(): Promise<number> {
  const range = await readFile("/proc/sys/net/ipv4/ip_local_port_range", "utf8").catch(() => "0 0");
  return Number(range.trim().split(/\s+/)[0]);
}

/** Listens on a port, 0 for any, and returns its number. Rejects if it is in use. */
async function listenBriefly(port: number): Promise<number> {
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return address.port;
}
