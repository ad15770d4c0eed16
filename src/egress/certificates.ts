import type { Host } from "../contract/egress-rules.ts";
import { type Certified, certify, hostCertificateMs } from "./authority.ts";

/** Cache size. Making a certificate takes 20 ms. */
const maximumKept = 1_000;

/** In-memory cache of host certificates signed by agents' own authorities. */
export class Certificates {
  readonly #authorityOf: (agentId: string) => Promise<Certified>;
  readonly #made = new Map<string, { certified: Promise<Certified>; until: number }>();

  constructor(authorityOf: (agentId: string) => Promise<Certified>) {
    this.#authorityOf = authorityOf;
  }

  /** A certificate for a host, signed by the agent's authority. */
  of(agentId: string, host: Host): Promise<Certified> {
    const key = `${agentId} ${host.text}`;
    const known = this.#made.get(key);
    if (known && performance.now() < known.until) return known.certified;
    const certified = this.#authorityOf(agentId).then((authority) => certify(authority, host));
    certified.catch(() => this.#made.delete(key));
    this.#made.set(key, { certified, until: performance.now() + hostCertificateMs / 2 });
    // The oldest goes, in the order in which they were made.
    if (this.#made.size > maximumKept) this.#made.delete(this.#made.keys().next().value!);
    return certified;
  }
}
