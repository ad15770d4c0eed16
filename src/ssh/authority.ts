import { createPrivateKey, createPublicKey, hkdfSync, type KeyObject, randomBytes, sign } from "node:crypto";

/** An ed25519 private key of 32 bytes follows these in PKCS #8 (RFC 8410). */
const pkcs8Head = Buffer.from("302e020100300506032b657004220420", "hex");
const keyType = "ssh-ed25519";
const certificateType = "ssh-ed25519-cert-v01@openssh.com";
/** Of a user, not of a host. */
const userType = 1;
/** In the order of their names, as the format asks. */
const extensions = [
  "permit-X11-forwarding",
  "permit-agent-forwarding",
  "permit-port-forwarding",
  "permit-pty",
  "permit-user-rc",
];

export interface CertificateRequest {
  /** As OpenSSH writes it: `ssh-ed25519 BASE64 COMMENT`. */
  publicKey: string;
  /** Appears in the machine's log. */
  keyId: string;
  principal: string;
  validAfter: Date;
  validBefore: Date;
}

/**
 * Signs OpenSSH certificates of users, in the format of PROTOCOL.certkeys
 * (https://github.com/openssh/openssh-portable/blob/master/PROTOCOL.certkeys). Its key is derived from the
 * installation's secret key, so all servers have the same and none is stored.
 */
export class SshAuthority {
  readonly #key: KeyObject;
  readonly #public: Buffer;

  /** `secretKey` is 32 bytes in base64. */
  constructor(secretKey: string) {
    const seed = hkdfSync("sha256", Buffer.from(secretKey, "base64"), "", "berth ssh authority", 32);
    const der = Buffer.concat([pkcs8Head, Buffer.from(seed)]);
    this.#key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
    const { x } = createPublicKey(this.#key).export({ format: "jwk" });
    this.#public = Buffer.concat([text(keyType), text(Buffer.from(x!, "base64url"))]);
  }

  /** Its public key, as OpenSSH writes it. */
  get publicKey(): string {
    return `${keyType} ${this.#public.toString("base64")}`;
  }

  /** A certificate as in a file `-cert.pub`; null if the key is not an ed25519 key. */
  certify({ publicKey, keyId, principal, validAfter, validBefore }: CertificateRequest): string | null {
    const key = keyBytes(publicKey);
    if (key === null) return null;
    const body = Buffer.concat([
      text(certificateType),
      text(randomBytes(32)),
      text(key),
      uint64(0n),
      uint32(userType),
      text(keyId),
      text(text(principal)),
      uint64(seconds(validAfter)),
      uint64(seconds(validBefore)),
      text(""),
      text(Buffer.concat(extensions.flatMap((name) => [text(name), text("")]))),
      text(""),
      text(this.#public),
    ]);
    const signature = Buffer.concat([text(keyType), text(sign(null, body, this.#key))]);
    return `${certificateType} ${Buffer.concat([body, text(signature)]).toString("base64")}`;
  }
}

/** The 32 bytes of an ed25519 key; null for anything else. */
function keyBytes(publicKey: string): Buffer | null {
  const [type, encoded = ""] = publicKey.split(" ");
  const blob = Buffer.from(encoded, "base64");
  const head = Buffer.concat([text(keyType), uint32(32)]);
  const isKey = type === keyType && blob.length === head.length + 32 && blob.subarray(0, head.length).equals(head);
  return isKey ? blob.subarray(head.length) : null;
}

/** A string of SSH's wire format (RFC 4251, 5): its length, then its bytes. */
function text(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value as string);
  return Buffer.concat([uint32(bytes.length), bytes]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function uint64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(value);
  return bytes;
}

function seconds(time: Date): bigint {
  return BigInt(Math.floor(time.getTime() / 1000));
}
