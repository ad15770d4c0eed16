import type { IncomingMessage } from "node:http";
import ipaddr from "ipaddr.js";

/**
 * The address of a request's client for requests that Fastify does not handle, by its rule: the last address in
 * `x-forwarded-for` that is none of a trusted proxy. `trusted` are addresses and networks. Empty once the client has gone.
 */
export function clientAddress({ socket, headers }: IncomingMessage, trusted: readonly string[]): string {
  const given = [headers["x-forwarded-for"] ?? []].flat().join(",").split(",");
  const hops = [...given.map((hop) => hop.trim()).filter((hop) => hop !== ""), socket.remoteAddress ?? ""];
  let client = hops.pop()!;
  while (hops.length > 0 && isTrusted(client, trusted)) client = hops.pop()!;
  return client;
}

function isTrusted(address: string, trusted: readonly string[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return trusted.some((text) => {
    const [network, prefix] = text.includes("/") ? ipaddr.parseCIDR(text) : [ipaddr.parse(text), null];
    if (network.kind() !== parsed.kind()) return false;
    return parsed.match(network, prefix ?? (network.kind() === "ipv4" ? 32 : 128));
  });
}
