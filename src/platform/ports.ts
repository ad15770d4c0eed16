import { randomInt } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";

const firstPort = 10_000;
const triesBelow = 50;

/**
 * A free port on 127.0.0.1, where possible below the ports that the system hands out for outgoing connections and to
 * servers without a port of their own: those may be taken again at once. Another program may take this one first, too.
 */
export async function freePort(): Promise<number> {
  const end = await firstEphemeralPort();
  for (let tries = 0; tries < triesBelow && end > firstPort; tries++) {
    const port = randomInt(firstPort, end);
    if (await isFree(port)) return port;
  }
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return (address as { port: number }).port;
}

/** Linux's range of ephemeral ports; ip(7). */
async function firstEphemeralPort(): Promise<number> {
  const range = await readFile("/proc/sys/net/ipv4/ip_local_port_range", "utf8").catch(() => "0 0");
  return Number(range.trim().split(/\s+/)[0]);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    const listening = once(server, "listening");
    server.listen(port, "127.0.0.1");
    await listening;
  } catch {
    return false;
  }
  const closed = once(server, "close");
  server.close();
  await closed;
  return true;
}
