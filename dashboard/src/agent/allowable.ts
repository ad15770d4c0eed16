import type { Network, NetworkLogEntry } from "@berth/client";
import ipaddr from "ipaddr.js";

/** The rule for a destination of a connection. */
export function ruleFor({ host, port }: { host: string; port: number | null }): string {
  if (port === null) return host;
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Whether a host is an address that the service always refuses, whatever the agent's rules. */
export function isPrivateAddress(host: string): boolean {
  return ipaddr.isValid(host) && ipaddr.parse(host).range() !== "unicast";
}

type Refused = Pick<NetworkLogEntry, "host" | "port"> & { reason: string | null };

/** Whether a rule for the refused destination would allow it. */
export function isAllowable({ reason, ...destination }: Refused, { allow, deny }: Network): boolean {
  const { host } = destination;
  const rules = [host, ruleFor(destination)];
  if (isPrivateAddress(host) || allow.some((rule) => rules.includes(rule))) return false;
  // A rule for more than the host stays, and takes precedence.
  if (reason === "denied") return deny.some((rule) => rules.includes(rule));
  return reason === "not_allowed" || reason === "asked";
}
