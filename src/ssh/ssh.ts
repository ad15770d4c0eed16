import type { Duplex } from "node:stream";
import type { AgentState } from "../agents/agent.ts";
import { BerthError } from "../contract/errors.ts";
import { certificateMs, type SshAccess, type SshRequest } from "../contract/ssh.ts";
import type { Caller } from "../core/http/caller.ts";
import type { GuestLeases } from "../lifecycle/guest-leases.ts";
import { MachineConnection } from "../lifecycle/machine-connection.ts";

type Asking = Pick<Caller, "accountId" | "keyId">;

/** By how much a machine's clock may be behind. */
const clockMs = 60_000;

interface Authority {
  /** As OpenSSH writes it. */
  readonly publicKey: string;
  /** Null if the key is of another kind. */
  certify(request: {
    publicKey: string;
    keyId: string;
    principal: string;
    validAfter: Date;
    validBefore: Date;
  }): string | null;
}

/** SSH into agents' machines. Every method wakes the machine, and throws as `GuestLeases.use`. */
export class Ssh {
  readonly #leases: GuestLeases;
  readonly #authority: Authority;

  constructor(leases: GuestLeases, authority: Authority) {
    this.#leases = leases;
    this.#authority = authority;
  }

  /** A certificate for a few minutes, and the machine's key. Throws `request_invalid`. */
  async certify(agent: AgentState, caller: Asking, { publicKey, user }: SshRequest): Promise<SshAccess> {
    const expiresAt = new Date(Date.now() + certificateMs);
    const certificate = this.#authority.certify({
      publicKey,
      keyId: `account ${caller.accountId}, key ${caller.keyId ?? "of a user"}`,
      principal: `${agent.id}:${user}`,
      validAfter: new Date(Date.now() - clockMs),
      validBefore: expiresAt,
    });
    if (certificate === null) throw new BerthError("request_invalid", "publicKey: this is no ssh-ed25519 key.");
    const { hostKey } = await this.#leases.use(agent, caller, (guest) => guest.sshHostKey({}), "again");
    return { certificate, hostKey, expiresAt: expiresAt.toISOString() };
  }

  /** A connection to the machine's SSH server. */
  async connect(agent: AgentState, caller: Asking): Promise<Duplex> {
    const request = { authority: this.#authority.publicKey, agentId: agent.id };
    const { stream, held } = await this.#leases.open(agent, caller, (guest) => guest.openSsh(request));
    return new MachineConnection(stream, held, () => this.#leases.keepAwake(agent.id));
  }
}
