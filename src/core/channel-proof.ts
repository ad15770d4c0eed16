import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

interface Claim {
  role: "server" | "guest";
  channel: string;
  serverNonce: string;
  guestNonce: string;
}

/** A nonce that an end of a channel sends to request a proof: 256 random bits. */
export function newNonce(): string {
  return randomBytes(32).toString("base64url");
}

/** Proves knowledge of a channel's token without revealing it: HMAC-SHA256 in base64url. */
export function proofOf(token: string, { role, channel, serverNonce, guestNonce }: Claim): string {
  const text = JSON.stringify(["berth channel", role, channel, serverNonce, guestNonce]);
  return createHmac("sha256", token).update(text).digest("base64url");
}

/** Verifies a proof in constant time. */
export function isProof(offered: unknown, token: string, claim: Claim): boolean {
  if (typeof offered !== "string") return false;
  const [mine, theirs] = [Buffer.from(proofOf(token, claim)), Buffer.from(offered)];
  return mine.length === theirs.length && timingSafeEqual(mine, theirs);
}
