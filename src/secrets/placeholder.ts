import { createHmac, randomBytes } from "node:crypto";

/** The random part of a placeholder, in bytes: no text contains it by chance, and no program guesses it. */
const randomPart = 12;
const seedBytes = 32;

/** Generates the placeholder for a secret in the machine. */
export function newPlaceholder(name: string): string {
  return placeholderWith(name, randomBytes(randomPart));
}

/** The seed of a new secret of a workspace, from which agents' placeholders are derived. */
export function newSeed(): Buffer {
  return randomBytes(seedBytes);
}

/** An agent's placeholder for a secret of its workspace. One agent's says nothing about another's. */
export function agentPlaceholder(name: string, seed: Buffer, agentId: string): string {
  return placeholderWith(name, createHmac("sha256", seed).update(agentId).digest().subarray(0, randomPart));
}

function placeholderWith(name: string, random: Buffer): string {
  return `berth-secret-${name}-${random.toString("hex")}`;
}

/** Binds ciphertext to its row. `owner`: the agent's, the account's or the login's id. */
export function contextOfSecret(
  table: "agent_secrets" | "agent_authorities" | "workspace_secrets" | "secret_logins",
  owner: string,
  name: string,
): string {
  return JSON.stringify([table, owner, name]);
}
