import "reflect-metadata";
import { createHash } from "node:crypto";
import {
  Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from "@peculiar/x509";
import { algorithm, makeKeys, pemOf } from "../egress/authority.ts";
import type { KeyPair } from "../https/certificate.ts";
import type { ChallengeResponse } from "./store.ts";

/** id-pe-acmeIdentifier (RFC 8737, 6.1). */
const acmeIdentifier = "1.3.6.1.5.5.7.1.31";
/** DER: an OCTET STRING of 32 bytes. */
const octets = Buffer.from([0x04, 0x20]);
const dayMs = 86_400_000;

/**
 * Makes the self-signed certificate that responds to a challenge of TLS-ALPN-01 (RFC 8737, 3). acme-client's is not for
 * TLS 1.2: clients of OpenSSL need a key usage that allows signatures.
 */
export async function challengeCertificate({ name, keyAuthorization }: ChallengeResponse): Promise<KeyPair> {
  const keys = await makeKeys();
  const hash = createHash("sha256").update(keyAuthorization).digest();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: "CN=ACME challenge",
    keys,
    signingAlgorithm: algorithm,
    notBefore: new Date(Date.now() - dayMs),
    notAfter: new Date(Date.now() + dayMs),
    extensions: [
      new SubjectAlternativeNameExtension([{ type: "dns", value: name }]),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new Extension(acmeIdentifier, true, Buffer.concat([octets, hash])),
    ],
  });
  return { certificate: certificate.toString("pem"), key: await pemOf(keys.privateKey) };
}
