import { createHash, randomBytes } from "node:crypto";

/** How long a link to set a password is valid. */
export const passwordLinkMs = 72 * 3_600_000;

/** A new token for a one-time link that is valid for `lifetimeMs`, and its stored form. */
export function createLink(lifetimeMs: number): { token: string; tokenHash: Buffer; expiresAt: Date } {
  const token = randomBytes(32).toString("base64url");
  return { token, tokenHash: hashLinkToken(token), expiresAt: new Date(Date.now() + lifetimeMs) };
}

/** The hash under which a link's token is stored. */
export function hashLinkToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
