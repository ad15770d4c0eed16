import type { Credential } from "../../contract/keys.ts";
import type { Role } from "../../contract/workspaces.ts";
import type { Span } from "../../telemetry/span.ts";

/** The part of a request's token that outlives the request: enough to check whether it is still valid. */
interface TokenFacts {
  subject: string;
  /** The program that it was issued to; null if unknown. */
  clientId: string | null;
  /** ISO 8601; null if unknown. */
  issuedAt: string | null;
  /** ISO 8601; null for a token of the dashboard or the tool, whose sign-in is renewed. */
  expiresAt: string | null;
}

export interface Caller {
  /** The workspace that the request is for. */
  accountId: string;
  /** The signed-in person, or the maker of the key; null for a key without a maker. */
  personId: string | null;
  /** In the workspace. */
  role: Role;
  credential: Credential;
  /** Null for a token. */
  keyId: string | null;
  /** For an external agent key, the ids of its agents; null: all of the account's. */
  agentIds: readonly string[] | null;
  /** Credit limit on all turns of this key; null: no limit for the key. */
  creditLimitMicro: number | null;
  /** When the key expires; null: never, or a token. */
  expiresAt: Date | null;
  /** Null for a key. */
  token: TokenFacts | null;
  /** Whether the caller administers the installation. */
  operator: boolean;
  /** Set if the request is traced. */
  span?: Span;
}

/** The key, or the signed-in person in a workspace, whose limits apply to the request. */
export function countedAs({ keyId, accountId, personId }: Caller): string {
  return keyId ?? `${accountId} ${personId}`;
}

export function mayUseTurn(
  { agentIds, keyId }: Pick<Caller, "agentIds" | "keyId">,
  turn: { keyId: string | null },
): boolean {
  return agentIds === null || turn.keyId === keyId;
}
