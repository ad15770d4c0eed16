import "reflect-metadata";
import { createPrivateKey, webcrypto } from "node:crypto";
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from "@peculiar/x509";

/** A certificate with its private key, both in PEM. */
export interface Certified {
  certificate: string;
  key: string;
}

/** Of all keys and signatures. */
export const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const dayMs = 86_400_000;
const authorityMs = 3_650 * dayMs;
/** Host certificates exist only in memory and are renewed long before they expire. */
export const hostCertificateMs = 30 * dayMs;
/** Guest clocks may be behind. */
const earlierMs = dayMs;

/** Makes a certificate authority for one agent. It can sign for hosts, but not for other authorities. */
export async function makeAuthority(agentId: string): Promise<Certified> {
  const keys = await makeKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: `CN=Berth agent ${agentId}`,
    keys,
    signingAlgorithm: algorithm,
    ...lifetime(authorityMs),
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: certificate.toString("pem"), key: await pemOf(keys.privateKey) };
}

/**
 * Makes a certificate with these keys, signed by the authority, for a host name, which may begin with `*.`, or address.
 */
export async function certify(
  authority: Certified,
  host: { kind: "name" | "address"; text: string },
  keys: webcrypto.CryptoKeyPair,
): Promise<Certified> {
  const issuer = new X509Certificate(authority.certificate);
  const signingKey = await webcrypto.subtle.importKey(
    "pkcs8",
    PemConverter.decodeFirst(authority.key),
    algorithm,
    false,
    ["sign"],
  );
  const certificate = await X509CertificateGenerator.create({
    subject: "CN=Berth",
    issuer: issuer.subject,
    publicKey: keys.publicKey,
    signingKey,
    signingAlgorithm: algorithm,
    ...lifetime(hostCertificateMs),
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      await AuthorityKeyIdentifierExtension.create(await issuer.publicKey.export()),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
      new SubjectAlternativeNameExtension([{ type: host.kind === "name" ? "dns" : "ip", value: host.text }]),
    ],
  });
  return { certificate: certificate.toString("pem"), key: await pemOf(keys.privateKey) };
}

/** A key pair for host certificates. */
export function makeKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
}

function lifetime(ms: number): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(Date.now() - earlierMs), notAfter: new Date(Date.now() + ms) };
}

export async function pemOf(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", key));
  return createPrivateKey({ key: der, format: "der", type: "pkcs8" })
    .export({ type: "pkcs8", format: "pem" })
    .toString();
}
