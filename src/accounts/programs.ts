import { BerthError } from "../contract/errors.ts";
import { isUuid } from "../contract/ids.ts";
import type { ProgramRecord } from "../contract/programs.ts";

/** A program of others with a sign-in that counts. */
export interface ProgramState {
  id: string;
  /** What it is called at the identity provider. */
  clientId: string;
  signedInAt: Date;
  lastUsedAt: Date;
}

/** The programs' sign-ins, at the built-in identity provider. */
export interface ProgramRows {
  /** Those of the account's user, the last used first; bounded in number. */
  list(accountId: string): Promise<ProgramState[]>;
  /** Ends all sign-ins of a program. False if there is none. */
  end(accountId: string, id: string): Promise<boolean>;
}

interface ProgramOptions {
  /** Null if an external identity provider signs programs in. */
  rows: ProgramRows | null;
  /** What users see of a program. */
  describe: (clientId: string) => Pick<ProgramRecord, "name" | "address">;
}

/** Programs of others that act for an account. Every call throws `users_managed_elsewhere` with an external provider. */
export class Programs {
  readonly #options: ProgramOptions;

  constructor(options: ProgramOptions) {
    this.#options = options;
  }

  async list(accountId: string): Promise<ProgramRecord[]> {
    const programs = await this.#requireLocal().list(accountId);
    return programs.map(({ id, clientId, signedInAt, lastUsedAt }) => ({
      id,
      ...this.#options.describe(clientId),
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

  #requireLocal(): ProgramRows {
    if (this.#options.rows) return this.#options.rows;
    throw new BerthError(
      "users_managed_elsewhere",
      "Programs sign in at the configured identity provider, and end there.",
    );
  }
}
