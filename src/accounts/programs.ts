import { BerthError } from "../contract/errors.ts";
import { isUuid } from "../contract/ids.ts";
import type { ProgramRecord } from "../contract/programs.ts";
import { describeProgram } from "../sign-in/program-clients.ts";
import type { ProgramStore } from "./program-store.ts";

/** A program of others with a sign-in that counts. */
export interface ProgramState {
  id: string;
  /** What it is called at the identity provider. */
  clientId: string;
  signedInAt: Date;
  lastUsedAt: Date;
}

/** Programs of others that act for an account. Every call throws `users_managed_elsewhere` with an external provider. */
export class Programs {
  readonly #rows: ProgramStore | null;

  /** `rows`: null if an external identity provider signs programs in. */
  constructor(rows: ProgramStore | null) {
    this.#rows = rows;
  }

  async list(accountId: string): Promise<ProgramRecord[]> {
    const programs = await this.#requireLocal().list(accountId);
    return programs.map(({ id, clientId, signedInAt, lastUsedAt }) => ({
      id,
      ...describeProgram(clientId),
      signedInAt: signedInAt.toISOString(),
      lastUsedAt: lastUsedAt.toISOString(),
    }));
  }

  /** Ends a program's sign-ins: its tokens are refused from now on. Throws `program_not_found`. */
  async end(accountId: string, id: string): Promise<void> {
    const ended = isUuid(id) && (await this.#requireLocal().end(accountId, id));
    if (!ended)
      throw new BerthError(
        "program_not_found",
        "No program of this id is signed in; GET /account/programs lists them.",
      );
  }

  #requireLocal(): ProgramStore {
    if (this.#rows) return this.#rows;
    throw new BerthError(
      "users_managed_elsewhere",
      "Programs sign in at the configured identity provider, and end there.",
    );
  }
}
