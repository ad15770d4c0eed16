import type { Duplex } from "node:stream";
import type { AgentState } from "../agents/agent.ts";
import type { GuestClient } from "../contract/guest-calls.ts";
import type { ListeningPort } from "../contract/ports.ts";
import type { Caller } from "../core/http/caller.ts";
import type { GuestLeases } from "../lifecycle/guest-leases.ts";
import { MachineConnection } from "../lifecycle/machine-connection.ts";

type Asking = Pick<Caller, "accountId" | "keyId">;

/** The TCP ports of agents' machines. Every method wakes the machine, and throws as `GuestLeases.use`. */
export class Ports {
  readonly #leases: GuestLeases;

  constructor(leases: GuestLeases) {
    this.#leases = leases;
  }

  /** The listening programs, by port. */
  async list(agent: AgentState, caller: Asking): Promise<ListeningPort[]> {
    return (await this.#leases.use(agent, caller, (guest) => guest.listPorts({}), "again")).data;
  }

  /**
   * A connection to a port, whose directions close independently. It keeps the machine awake while bytes move and for a
   * minute after, and breaks when the machine sleeps. Abandoned when `gone` aborts. Throws `port_not_listening`.
   */
  async connect(agent: AgentState, caller: Asking, port: number, gone?: AbortSignal): Promise<Duplex> {
    const call = (guest: GuestClient) => guest.connectPort({ port }, { signal: gone });
    const { stream, held } = await this.#leases.open(agent, caller, call, gone);
    return new MachineConnection(stream, held, () => this.#leases.keepAwake(agent.id));
  }
}
