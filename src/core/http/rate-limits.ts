import type { FastifyReply, FastifyRequest } from "fastify";
import ipaddr from "ipaddr.js";
import type { AppContext } from "../../context.ts";
import { BerthError } from "../../contract/errors.ts";
import { type Allowance, type RateLimiter, rateLimitWindow } from "../rate-limits.ts";

/**
 * Counts a request against a limit, `uses` times, and reports what remains in headers (`ratelimit-policy`, `ratelimit`:
 * https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/). Throws `rate_limited` above the limit.
 */
export async function limit(reply: FastifyReply, limiter: RateLimiter, who: string, uses = 1): Promise<void> {
  let allowance = await limiter.take(who);
  for (let used = 1; used < uses && allowance?.allowed; used++) allowance = await limiter.take(who);
  if (!allowance) return;
  const { policy, allowed, remaining } = allowance;
  const seconds = secondsOf(allowance);
  append(reply, "ratelimit-policy", `"${policy.name}";q=${policy.limit};w=${rateLimitWindow}`);
  append(reply, "ratelimit", `"${policy.name}";r=${remaining};t=${seconds}`);
  if (allowed) return;
  reply.header("retry-after", String(seconds));
  throw new BerthError("rate_limited", `${refusals[policy.name]} Again in ${seconds} s.`, {
    details: { policy: policy.name, limit: policy.limit, windowSeconds: rateLimitWindow },
  });
}

const refusals: Record<Allowance["policy"]["name"], string> = {
  requests: "Too many requests with this key.",
  account: "Too many requests of this account, with all its keys together.",
  address: "Too many requests from this address without a valid key.",
  agents: "Too many agents were made.",
  keys: "Too many keys were made.",
  hooks: "Too many deliveries to this hook.",
};

/** Counts a request without a valid key against its address. Throws `rate_limited`. */
export function limitAddress({ stores }: AppContext, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  return limit(reply, stores.limiters.address, clientOf(request.ip));
}

/** The client behind an address. In IPv6, a client has a whole /64 network. */
export function clientOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === "ipv4") return parsed.toString();
  return `${parsed
    .toByteArray()
    .slice(0, 8)
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("")}/64`;
}

function secondsOf({ resetMs }: Allowance): number {
  return Math.max(1, Math.ceil(resetMs / 1000));
}

function append(reply: FastifyReply, name: string, value: string): void {
  const before = reply.getHeader(name);
  reply.header(name, before === undefined ? value : `${before}, ${value}`);
}
