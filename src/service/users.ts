import type { UserRecord } from "../contract/users.ts";

/** A user of the service's own identity provider. */
export interface UserState {
  id: string;
  accountId: string;
  name: string;
  /** Its account is the operator's. */
  operator: boolean;
  /** Null until one is set with a link. */
  passwordHash: string | null;
  disabledAt: Date | null;
  createdAt: Date;
}

/** The user as the operator sees it. */
export function toUserView({ name, operator, passwordHash, disabledAt, createdAt }: UserState): UserRecord {
  const status = disabledAt ? "disabled" : passwordHash === null ? "invited" : "active";
  return { name, operator, status, createdAt: createdAt.toISOString() };
}
