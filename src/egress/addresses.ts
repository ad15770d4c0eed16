import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";

/** Cloud metadata services (Azure, Oracle, Alibaba, AWS) that are not link-local. */
const metadata = new Set(["168.63.129.16", "192.0.0.192", "100.100.100.200", "fd00:ec2::254"]);

/** Link-local and multi-machine addresses, which no exception opens. */
const neverExempt = new Set(["linkLocal", "unspecified", "broadcast", "multicast"]);

/**
 * Whether an address is on the public internet. Private and special networks are not. Nor are IPv6 addresses that embed
 * an IPv4 address (mapped, translated, 6to4, Teredo, ISATAP), because a relay decides where they lead, nor unallocated
 * ones, which in IPv6 is everything outside 2000::/3.
 */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address) || address.includes("%")) return false;
  const parsed = ipaddr.parse(address);
  // The library also returns `unicast` for addresses that are in none of its tables.
  if (parsed.range() !== "unicast" || metadata.has(parsed.toString())) return false;
  if (parsed.kind() === "ipv4") return true;
  const { parts } = parsed as ipaddr.IPv6;
  // 2000::/3, without an ISATAP interface identifier (RFC 5214): [02]00:5efe and an IPv4 address.
  return parts[0]! >> 13 === 1 && !((parts[4]! & 0xfdff) === 0 && parts[5] === 0x5efe);
}

/** Whether the operator may open an address that is not public. Addresses that embed another stay blocked. */
export function mayBeExempt(address: string): boolean {
  if (!ipaddr.isValid(address) || address.includes("%")) return false;
  const parsed = ipaddr.parse(address);
  if (metadata.has(parsed.toString())) return false;
  if (parsed.kind() === "ipv4") return !neverExempt.has(parsed.range());
  return isPublic(address) || ["loopback", "uniqueLocal"].includes(parsed.range());
}

/** Whether an address is currently one of this host's own. */
export function isOwn(address: string): boolean {
  const desired = ipaddr.parse(address);
  if (desired.range() === "loopback" || desired.range() === "unspecified") return true;
  return Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .some((each) => ipaddr.parse(each.address.split("%")[0]!).toString() === desired.toString());
}

/**
 * Whether an address is in one of this host's networks, public or not. Machines on a link often trust each other, and
 * there is no router between them.
 */
export function isOnLink(address: string): boolean {
  return Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .some(({ cidr }) => {
      if (!cidr) return false;
      const [network, prefix] = cidr.split("/") as [string, string];
      return isIn(address, { address: network.split("%")[0]!, prefix: Number(prefix) });
    });
}

/** Whether an address is in a network. */
export function isIn(address: string, network: { address: string; prefix: number }): boolean {
  const [one, other] = [ipaddr.parse(address), ipaddr.parse(network.address)];
  return one.kind() === other.kind() && one.match(other, network.prefix);
}
