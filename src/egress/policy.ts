import { isIP } from "node:net";
import type { EgressRefusal } from "../contract/egress.ts";
import { authorityText, type EgressRule, type Host, parseRule } from "../contract/egress-rules.ts";
import { isIn, isOnLink, isOwn, isPublic, mayBeExempt } from "./addresses.ts";
import type { Resolve } from "./names.ts";

/** Rules as written. */
export interface RuleLists {
  allow: readonly string[];
  deny: readonly string[];
}

/** The host and port that an agent's program requests. */
export interface Destination {
  host: Host;
  port: number;
}

/** An agent's rules. `ask`: a person is asked about what is on neither list. */
export interface AgentRules extends RuleLists {
  ask: boolean;
}

export interface PolicyOptions {
  operator: RuleLists;
  /** `HOST:PORT` in normal form that are allowed although their addresses are private. */
  inside: readonly string[];
  /** The service's own addresses, and its database's. Agents cannot connect there, whatever the lists say. */
  own: () => readonly { host: string; port: number }[];
  /** Resolves the installation's own hosts as the host itself does. */
  lookUp: Resolve;
}

/** Mail servers accept mail from this host, so an open port would let agents send spam. */
const mailPort = 25;

/** Names for this host or its network, by their last label (RFC 6761, 6762, 8375, ICANN). */
const insideName = /(^|\.)(localhost|localdomain|local|internal|intranet|private|corp|home|lan|home\.arpa)$/;

/** Whether a name cannot be on the public internet. */
export function isInsideName(name: string): boolean {
  return !name.includes(".") || insideName.test(name);
}

/** Decides which connections are allowed. The agent's lists are passed with each call. */
export class Policy {
  readonly #options: PolicyOptions;

  constructor(options: PolicyOptions) {
    this.#options = options;
  }

  /**
   * Returns the reason to refuse a destination before its name is looked up; null if there is none. The lookup itself
   * would already leak information.
   */
  refuseAsked(destination: Destination, agent: AgentRules): EgressRefusal | null {
    const { host, port } = destination;
    if (port === mailPort) return "port_refused";
    const isInside = host.kind === "name" && isInsideName(host.text);
    if (isInside && !this.isException(destination)) return "inside";
    const { operator } = this.#options;
    if (matches(operator.deny, destination)) return "denied_by_operator";
    if (!matches(operator.allow, destination)) return "not_allowed_by_operator";
    if (matches(agent.deny, destination)) return "denied";
    if (matches(agent.allow, destination)) return null;
    return agent.ask ? "asked" : "not_allowed";
  }

  /** Why a destination is refused because of its addresses. A single private one is enough. */
  async refuseAddresses(
    destination: Destination,
    addresses: readonly string[],
    agent: RuleLists,
  ): Promise<EgressRefusal | null> {
    const { port } = destination;
    const mayBe = this.isException(destination)
      ? mayBeExempt
      : (each: string) => isPublic(each) && !isOwn(each) && !isOnLink(each);
    for (const address of addresses) {
      if (!mayBe(address) || (await this.#isOfService(address, port))) return "inside";
      const found: Destination = { host: { kind: "address", text: address }, port };
      if (matches(this.#options.operator.deny, found)) return "denied_by_operator";
      if (matches(agent.deny, found)) return "denied";
    }
    return null;
  }

  /** Whether these rules allow every public host. */
  allowsAll(agent: RuleLists): boolean {
    return [this.#options.operator, agent].every(({ allow, deny }) => allow.includes("*") && deny.length === 0);
  }

  /** Whether the operator has explicitly allowed this destination, whatever its address. */
  isException(destination: Destination): boolean {
    return this.#options.inside.includes(authorityText(destination));
  }

  async #isOfService(address: string, port: number): Promise<boolean> {
    for (const place of this.#options.own()) {
      if (place.port !== port) continue;
      const addresses = isIP(place.host) ? [place.host] : await this.#options.lookUp(place.host);
      if (addresses.some((each) => (isOwn(each) ? isOwn(address) : each === address))) return true;
    }
    return false;
  }
}

function matches(rules: readonly string[], destination: Destination): boolean {
  return rules.some((text) => {
    const rule = parseRule(text);
    return (
      rule !== null && (rule.port === null || rule.port === destination.port) && matchesHost(rule, destination.host)
    );
  });
}

function matchesHost(rule: EgressRule, { kind, text }: Host): boolean {
  switch (rule.kind) {
    case "any":
      return true;
    case "name":
      return kind === "name" && text === rule.name;
    case "below":
      return kind === "name" && text.endsWith(`.${rule.name}`);
    case "network":
      return kind === "address" && isIn(text, rule);
  }
}
