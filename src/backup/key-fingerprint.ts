import { createHmac } from "node:crypto";

/** Tells one secret key from another, and nothing else of it: a key has 256 random bits. */
export function keyFingerprint(secretKey: string): string {
  return createHmac("sha256", Buffer.from(secretKey, "base64")).update("berth backup").digest("hex").slice(0, 32);
}
