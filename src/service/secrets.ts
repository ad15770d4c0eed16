import { randomBytes } from "node:crypto";
import type { SecretRecord } from "../contract/secrets.ts";

/** How many secrets an agent may have. */
export const maximumSecrets = 50;

/** A secret of an agent, without its value. */
export interface SecretState {
  name: string;
  hosts: string[];
  placeholder: string;
  createdAt: Date;
  updatedAt: Date;
}

/** What stands for a secret in the machine: made up anew for each, so that it is found nowhere else. */
export function newPlaceholder(name: string): string {
  return `berth-secret-${name}-${randomBytes(12).toString("hex")}`;
}

/** The secret as its owner sees it. */
export function toSecretView({ createdAt, updatedAt, ...secret }: SecretState): SecretRecord {
  return { ...secret, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
}
