import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";

/** Where clouds tell a machine its secrets: Azure's, Oracle's, Alibaba's, AWS's; all others are link-local. */
const metadata = new Set(["168.63.129.16", "192.0.0.192", "100.100.100.200", "fd00:ec2::254"]);

/** What is on this link only, or no single machine's: no exception opens it. */
const neverExempt = new Set(["linkLocal", "unspecified", "broadcast", "multicast"]);

/**
 * Whether an address is of the internet, so that anybody may connect with it. Not those of private and special networks,
 * nor those of IPv6 that carry one of IPv4 (mapped, translated, 6to4, Teredo, ISATAP): where such a one leads is decided
 * by a machine on the way. Nor what is not known to be given out: of IPv6 that is all but 2000::/3.
 */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address) || address.includes("%")) return false;
  const parsed = ipaddr.parse(address);
  // Also what the library takes for `unicast`, as whatever is in none of its tables.
  if (parsed.range() !== "unicast" || metadata.has(parsed.toString())) return false;
  if (parsed.kind() === "ipv4") return true;
  const { parts } = parsed as ipaddr.IPv6;
  // 2000::/3, and no interface identifier of ISATAP (RFC 5214): [02]00:5efe and an address of IPv4.
  return parts[0]! >> 13 === 1 && !((parts[4]! & 0xfdff) === 0 && parts[5] === 0x5efe);
}

/** Whether the operator may open an address that is not public. None of those that carry another. */
export function mayBeExempt(address: string): boolean {
  if (!ipaddr.isValid(address) || address.includes("%")) return false;
  const parsed = ipaddr.parse(address);
  if (metadata.has(parsed.toString())) return false;
  if (parsed.kind() === "ipv4") return !neverExempt.has(parsed.range());
  return isPublic(address) || ["loopback", "uniqueLocal"].includes(parsed.range());
}

/** Whether an address leads to this host: one of its own, as they are now. */
export function isOwn(address: string): boolean {
  const desired = ipaddr.parse(address);
  if (desired.range() === "loopback" || desired.range() === "unspecified") return true;
  return Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .some((each) => ipaddr.parse(each.address.split("%")[0]!).toString() === desired.toString());
}

/**
 * Whether an address is of a network that this host is in, public or not: those who share a link often trust each
 * other, and no router is between them.
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

/** Whether an address lies in a network. */
export function isIn(address: string, network: { address: string; prefix: number }): boolean {
  const [one, other] = [ipaddr.parse(address), ipaddr.parse(network.address)];
  return one.kind() === other.kind() && one.match(other, network.prefix);
}
