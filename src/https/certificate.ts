import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { createSecureContext } from "node:tls";
import type { CertificateFiles } from "../config/config.ts";

const sizeLimit = 1024 * 1024;
const certificateVariable = "BERTH_TLS_CERT_FILE";
const keyVariable = "BERTH_TLS_KEY_FILE";

/** A certificate that cannot be used. The message names the variable and says what is allowed. */
class CertificateError extends Error {}

/** A certificate with its chain, and its private key, both in PEM. */
export interface KeyPair {
  certificate: string;
  key: string;
}

/** A key pair that was checked. */
export interface Certificate extends KeyPair {
  /** The first of the chain. */
  leaf: X509Certificate;
  expiresAt: Date;
}

/** Reads both files without a check of what they contain. Throws `CertificateError`, which names the first bad file. */
export async function readKeyPair({ certificateFile, keyFile }: CertificateFiles): Promise<KeyPair> {
  const certificate = await read(certificateVariable, certificateFile);
  return { certificate, key: await read(keyVariable, keyFile) };
}

/** Checks that a server can use the pair now. Throws `CertificateError`. */
export function checkKeyPair({ certificate, key }: KeyPair, now = new Date()): Certificate {
  const leaf = parse(certificate);
  const privateKey = parseKey(key);
  if (!leaf.checkPrivateKey(privateKey)) {
    throw new CertificateError(
      `${keyVariable}: the key does not belong to the first certificate of ${certificateVariable}. Put the server's own certificate before those of its issuers.`,
    );
  }
  if (leaf.validToDate <= now) {
    throw new CertificateError(
      `${certificateVariable}: the certificate expired on ${day(leaf.validToDate)}. Renew it.`,
    );
  }
  if (leaf.validFromDate > now) {
    throw new CertificateError(
      `${certificateVariable}: the certificate is valid from ${leaf.validFromDate.toISOString()} on. Check this host's clock.`,
    );
  }
  try {
    // Rejects keys and signatures that OpenSSL counts as too weak.
    createSecureContext({ cert: certificate, key });
  } catch (error) {
    throw new CertificateError(`${certificateVariable}: OpenSSL rejects the certificate: ${(error as Error).message}`, {
      cause: error,
    });
  }
  return { certificate, key, leaf, expiresAt: leaf.validToDate };
}

/** Whether a certificate is for a host: a name, or an address as in a URL. */
export function isFor(leaf: X509Certificate, host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, "$1");
  return (isIP(address) ? leaf.checkIP(address) : leaf.checkHost(host)) !== undefined;
}

/** The names and addresses of a certificate, without their types. */
export function namesOf({ subjectAltName = "" }: X509Certificate): string[] {
  return subjectAltName.split(", ").flatMap((name) => /^(?:DNS|IP Address):(.+)$/.exec(name)?.[1] ?? []);
}

async function read(variable: string, file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new CertificateError(`${variable}: ${reason(file, error)}`, { cause: error });
  });
  if (text.length > sizeLimit) throw new CertificateError(`${variable}: ${file} is larger than 1 MiB.`);
  return text;
}

function reason(file: string, { code, message }: NodeJS.ErrnoException): string {
  if (code === "ENOENT") return `${file} does not exist.`;
  if (code === "EACCES") return `the server's user (${process.geteuid?.()}) may not read ${file}.`;
  return `${file} cannot be read: ${message}`;
}

function parse(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (error) {
    throw new CertificateError(
      `${certificateVariable}: the file contains no certificate in PEM, which begins with -----BEGIN CERTIFICATE-----.`,
      { cause: error },
    );
  }
}

function parseKey(pem: string) {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    const isEncrypted = pem.includes("ENCRYPTED");
    throw new CertificateError(
      isEncrypted
        ? `${keyVariable}: the key is encrypted. Store it without a passphrase, readable only by the server's user.`
        : `${keyVariable}: the file contains no private key in PEM, such as -----BEGIN PRIVATE KEY-----.`,
      { cause: error },
    );
  }
}

/** Its names and expiry in words. */
export function describe({ leaf, expiresAt }: Certificate): string {
  return `${namesOf(leaf).join(", ")}, expires on ${day(expiresAt)}`;
}

/** A date in UTC, `2027-01-31`. */
export function day(date: Date): string {
  return date.toISOString().slice(0, 10);
}
