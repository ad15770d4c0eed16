declare module "http_ece" {
  import type { ECDH } from "node:crypto";

  /** Decrypts a message of the content encoding `aes128gcm` (RFC 8188), for Web Push with its secret (RFC 8291). */
  export function decrypt(
    message: Buffer,
    parameters: { version: "aes128gcm"; privateKey: ECDH; authSecret: string },
  ): Buffer;
}
