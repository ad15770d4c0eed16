import { createHmac, hkdfSync, randomBytes } from "node:crypto";

/** A new challenge: 32 random bytes in base64url. */
export function newChallenge(): string {
  return randomBytes(32).toString("base64url");
}

/**
 * The proof that an installation received a challenge (HMAC-SHA256, base64url). All its servers return the same.
 * `secretKey` is 32 bytes in base64.
 */
export function proofOf(secretKey: string, challenge: string): string {
  const key = hkdfSync("sha256", Buffer.from(secretKey, "base64"), "", "berth reachability", 32);
  return createHmac("sha256", Buffer.from(key)).update(challenge).digest("base64url");
}
