import { createHash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

const prefixes = { full: "berth_sk_", agent: "berth_ak_" } as const;
type KeyKind = keyof typeof prefixes;
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const randomLength = 33; // 33 × log2(62) = 196 bits
const checksumLength = 6;
const shape = new RegExp(`^(?:${Object.values(prefixes).join("|")})[0-9A-Za-z]{${randomLength + checksumLength}}$`);

/** A new key, and its stored form. The key itself is shown once and never stored. */
export function createKey(kind: KeyKind): { key: string; prefix: string; hash: Buffer } {
  const body = prefixes[kind] + randomText(randomLength);
  const key = body + checksum(body);
  return { key, prefix: key.slice(0, 12), hash: hashKey(key) };
}

/** The hash under which a key is stored. */
export function hashKey(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}

/** The hash of an API key: null if it is malformed, undefined if the credential is not a key. */
export function parseKey(credential: string): Buffer | null | undefined {
  if (!credential.startsWith("berth_")) return undefined;
  return isWellFormed(credential) ? hashKey(credential) : null;
}

/** Whether the key has a valid form and checksum. Anything else is refused without a lookup. */
export function isWellFormed(key: string): boolean {
  return shape.test(key) && checksum(key.slice(0, -checksumLength)) === key.slice(-checksumLength);
}

/** Uniform over the alphabet: bytes beyond its last whole multiple are discarded. */
function randomText(length: number): string {
  let text = "";
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += alphabet[byte % alphabet.length];
    }
  }
  return text;
}

function checksum(text: string): string {
  let value = crc32(text);
  let digits = "";
  for (let place = 0; place < checksumLength; place++) {
    digits = alphabet[value % alphabet.length]! + digits;
    value = Math.floor(value / alphabet.length);
  }
  return digits;
}
