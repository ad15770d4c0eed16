import { createHash } from "node:crypto";
import { sql } from "kysely";
import { hexOf, uuidOf } from "../contract/ids.ts";
import { dashboardClient, toolClient } from "../contract/sign-in.ts";
import type { Database } from "../core/database/database.ts";
import type { Caller } from "../core/http/caller.ts";
import type { ProgramState } from "./programs.ts";

/** The maximum number of programs in a list. */
const maximumListed = 100;

/** A program's id: a part of the SHA-256 of its client id at the provider, which may have thousands of characters. */
const idHash = sql`substring(sha256(convert_to(record.payload ->> 'clientId', 'UTF8')) for 16)`;

/** Third-party programs, in the identity provider's records. */
export class ProgramStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** A sign-in is valid as long as it has a refresh token. */
  async list(owner: ProgramOwner): Promise<ProgramState[]> {
    const { rows } = await sql<{ client_id: string; first: number; last: number }>`
      select record.payload ->> 'clientId' as client_id,
        min((record.payload ->> 'iiat')::float8) as first,
        max((record.payload ->> 'iat')::float8) as last
      from oidc_records record join users on users.id::text = record.account_id
      where ${isOwnedBy(owner)} and record.model = 'RefreshToken'
        and record.consumed_at is null and record.expires_at > now()
        and record.payload ->> 'clientId' not in (${dashboardClient}, ${toolClient})
      group by 1 order by last desc, client_id limit ${maximumListed}`.execute(this.#database);
    return rows.map(({ client_id: clientId, first, last }) => ({
      id: idOf(clientId),
      clientId,
      signedInAt: new Date(first * 1000),
      lastUsedAt: new Date(last * 1000),
    }));
  }

  /** Ends all sign-ins of a program. False if there is none. */
  async end(owner: ProgramOwner, id: string): Promise<boolean> {
    const { numAffectedRows = 0n } = await sql`
      delete from oidc_records record using users
      where users.id::text = record.account_id and ${isOwnedBy(owner)}
        and record.model in ('Grant', 'RefreshToken', 'AuthorizationCode')
        and record.payload ->> 'clientId' not in (${dashboardClient}, ${toolClient})
        and ${idHash} = ${Buffer.from(hexOf(id), "hex")}`.execute(this.#database);
    return numAffectedRows > 0n;
  }
}

/** The owner of programs: a person, or without one the user of a personal workspace. */
export type ProgramOwner = Pick<Caller, "accountId" | "personId">;

/** The condition on `users` and their `record`. */
function isOwnedBy({ accountId, personId }: ProgramOwner) {
  if (personId === null) return sql`users.account_id = ${accountId}`;
  return sql`record.account_id = (select subject from people where id = ${personId})`;
}

function idOf(clientId: string): string {
  return uuidOf(createHash("sha256").update(clientId).digest("hex").slice(0, 32));
}
