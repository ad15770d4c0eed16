import { type RawBuilder, sql } from "kysely";
import type { Author } from "../../contract/authors.ts";
import type { Caller } from "../http/caller.ts";

/** The ids that are stored with what a caller did. */
export type AuthorIds = Pick<Caller, "personId" | "keyId">;

/** For what the service did automatically. */
export const nobody: AuthorIds = { personId: null, keyId: null };

export function authorColumns({ personId, keyId }: AuthorIds) {
  return { person_id: personId, key_id: keyId };
}

/** The author of a row of a table that has `authorColumns`, by today's names; null if it is unknown. */
export function authorOf(table: string): RawBuilder<Author | null> {
  const [personId, keyId] = [sql.ref(`${table}.person_id`), sql.ref(`${table}.key_id`)];
  return sql<Author | null>`(
    select json_build_object(
      'kind', case when ${keyId} is null then 'person' else 'key' end,
      'id', coalesce(${keyId}, ${personId}),
      'name', case when ${keyId} is null then person.name else (select name from api_keys where id = ${keyId}) end,
      'person', person.name)
    from (values (1)) one left join people person on person.id = ${personId}
    where coalesce(${keyId}, ${personId}) is not null)`;
}
