import type { Credential } from "../contract/keys.ts";

/** Who makes a request. */
export interface Caller {
  accountId: string;
  credential: Credential;
  /** Null for a token. */
  keyId: string | null;
  /** For an external agent key: the ids of its agents; null: all of the account. */
  agentIds: readonly string[] | null;
  /** What turns begun with this key may cost; null: no limit of its own. */
  creditLimitMicro: number | null;
  /** When the key ends; null: never, or a token. */
  expiresAt: Date | null;
  /** The account is the operator's, who looks after the installation. */
  operator: boolean;
}

/** For whom requests and streams are counted: the key, or the account of one who has signed in. */
export function countedAs({ keyId, accountId }: Caller): string {
  return keyId ?? accountId;
}
