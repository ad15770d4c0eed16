import { BerthError } from "../contract/errors.ts";
import { isUuid } from "../contract/ids.ts";
import type { ProgramRecord } from "../contract/programs.ts";
import { describeProgram } from "../sign-in/program-clients.ts";
import type { ProgramOwner, ProgramStore } from "./program-store.ts";

/** A third-party program with a valid sign-in. */
export interface ProgramState {
  id: string;
  /** Its client id at the identity provider. */
  clientId: string;
  signedInAt: Date;
  lastUsedAt: Date;
}

/**
 * Third-party programs that act for an account. Every call throws `users_managed_elsewhere` with an external provider.
 */
export class Programs {
  readonly #rows: ProgramStore | null;

  /** `rows`: null if programs sign in at an external identity provider. */
  constructor(rows: ProgramStore | null) {
    this.#rows = rows;
  }

  async list(owner: ProgramOwner): Promise<ProgramRecord[]> {
    const programs = await this.#requireLocal().list(owner);
    return programs.map(({ id, clientId, signedInAt, lastUsedAt }) => ({
      id,
      ...describeProgram(clientId),
      signedInAt: signedInAt.toISOString(),
      lastUsedAt: lastUsedAt.toISOString(),
    }));
  }

  /** Revokes a program's sign-ins: its tokens are refused from now on. Throws `program_not_found`. */
  async end(owner: ProgramOwner, id: string): Promise<void> {
    const ended = isUuid(id) && (await this.#requireLocal().end(owner, id));
    if (!ended)
      throw new BerthError(
        "program_not_found",
        "No program with this id is signed in; GET /account/programs lists them.",
      );
  }

  #requireLocal(): ProgramStore {
    if (this.#rows) return this.#rows;
    throw new BerthError(
      "users_managed_elsewhere",
      "Programs sign in at the configured identity provider; manage their sign-ins there.",
    );
  }
}
