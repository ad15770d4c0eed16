import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";

/**
 * Signs messages between the servers of an installation (HMAC-SHA256). The key is derived from the installation's
 * secret key, so only these servers have it.
 */
export class ServerSeal {
  readonly #key: Buffer;

  /** `secretKey` is 32 bytes in base64. */
  constructor(secretKey: string) {
    this.#key = Buffer.from(hkdfSync("sha256", Buffer.from(secretKey, "base64"), "", "berth servers", 32));
  }

  /** The text with its signature, as letters, digits, `-`, `_` and one `.`. */
  seal(text: string): string {
    const body = Buffer.from(text).toString("base64url");
    return `${body}.${this.#sign(body).toString("base64url")}`;
  }

  /** The text; null if no server of this installation has sealed it. */
  open(sealed: string): string | null {
    const [body = "", signature = ""] = sealed.split(".", 2);
    const given = Buffer.from(signature, "base64url");
    const own = this.#sign(body);
    if (given.length !== own.length || !timingSafeEqual(given, own)) return null;
    return Buffer.from(body, "base64url").toString();
  }

  #sign(body: string): Buffer {
    return createHmac("sha256", this.#key).update(body).digest();
  }
}
