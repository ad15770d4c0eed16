import type { webcrypto } from "node:crypto";
import { SerialQueue } from "../core/locks.ts";
import { setRecent } from "../core/recent.ts";
import { type Certified, certify, hostCertificateMs, makeKeys } from "./authority.ts";

/** The maximum number of cached certificates of an agent, and of agents. */
const maximumKept = 64;
const maximumAgents = 1_000;
/** The maximum number of new certificates of an agent per minute: each takes 20 ms of the process. */
const maximumNew = 60;
const windowMs = 60_000;

/** A host, or with the prefix `*.` all names one label below. */
export interface CertifiedHost {
  kind: "name" | "address";
  text: string;
}

interface OfAgent {
  keys: Promise<webcrypto.CryptoKeyPair>;
  made: Map<string, { certified: Promise<Certified>; until: number }>;
  windowFrom: number;
  /** The number of new certificates in this window. */
  inWindow: number;
}

/** Host certificates signed by agents' own authorities, in memory. An agent has one key for all of them. */
export class Certificates {
  readonly #authorityOf: (agentId: string) => Promise<Certified>;
  readonly #agents = new Map<string, OfAgent>();
  /** One at a time, so that other work of the process runs in between. */
  readonly #making = new SerialQueue();

  constructor(authorityOf: (agentId: string) => Promise<Certified>) {
    this.#authorityOf = authorityOf;
  }

  /** A certificate for a host, signed by the agent's authority. Rejects for an agent that requests too many. */
  async of(agentId: string, host: CertifiedHost): Promise<Certified> {
    const agent = this.#agentOf(agentId);
    const known = agent.made.get(host.text);
    if (known && performance.now() < known.until) return known.certified;
    if (!mayMake(agent)) throw new Error(`the agent has requested more than ${maximumNew} new hosts in a minute`);
    const certified = this.#making.run("all", async () =>
      certify(await this.#authorityOf(agentId), host, await agent.keys),
    );
    certified.catch(() => agent.made.delete(host.text));
    const until = performance.now() + hostCertificateMs / 2;
    setRecent(agent.made, host.text, { certified, until }, maximumKept);
    return certified;
  }

  #agentOf(agentId: string): OfAgent {
    const agent = this.#agents.get(agentId) ?? { keys: makeKeys(), made: new Map(), windowFrom: 0, inWindow: 0 };
    setRecent(this.#agents, agentId, agent, maximumAgents);
    return agent;
  }
}

function mayMake(agent: OfAgent): boolean {
  const now = performance.now();
  if (agent.inWindow === 0 || now - agent.windowFrom > windowMs) [agent.windowFrom, agent.inWindow] = [now, 0];
  agent.inWindow++;
  return agent.inWindow <= maximumNew;
}
