import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const algorithm = "aes-256-gcm";
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
/** The first byte of every ciphertext, in case the format changes. */
const version = 1;

/**
 * Encrypts secrets for the database: AES-256-GCM, as version, nonce, tag and ciphertext. With random nonces of 96 bits,
 * a key is good for 2^32 texts (NIST SP 800-38D, 8.3).
 */
export class Sealer {
  readonly #key: Buffer;

  /** `key` is 32 bytes in base64. */
  constructor(key: string) {
    this.#key = Buffer.from(key, "base64");
    if (this.#key.length !== keyBytes) throw new Error(`A secret key has ${keyBytes} bytes in base64.`);
  }

  /** `context` names the owner of the text. It is not stored; `open` needs the same one. */
  seal(text: string, context: string): Buffer {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, this.#key, nonce).setAAD(Buffer.from(context));
    const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
    return Buffer.concat([Buffer.from([version]), nonce, cipher.getAuthTag(), sealed]);
  }

  /** Null if the key or context differs, or the ciphertext was changed. */
  open(sealed: Buffer, context: string): string | null {
    const nonce = sealed.subarray(1, 1 + nonceBytes);
    const tag = sealed.subarray(1 + nonceBytes, 1 + nonceBytes + tagBytes);
    if (sealed[0] !== version || tag.length !== tagBytes) return null;
    const options = { authTagLength: tagBytes };
    const decipher = createDecipheriv(algorithm, this.#key, nonce, options)
      .setAAD(Buffer.from(context))
      .setAuthTag(tag);
    try {
      return decipher.update(sealed.subarray(1 + nonceBytes + tagBytes), undefined, "utf8") + decipher.final("utf8");
    } catch {
      return null;
    }
  }
}
