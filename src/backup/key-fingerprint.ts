import { createHmac } from "node:crypto";

/** Identifies a secret key without revealing it: a key has 256 random bits. */
export function keyFingerprint(secretKey: string): string {
  return createHmac("sha256", Buffer.from(secretKey, "base64")).update("berth backup").digest("hex").slice(0, 32);
}
