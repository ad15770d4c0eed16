import "reflect-metadata";
import { webcrypto } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  type Name,
  PemConverter,
  SubjectAlternativeNameExtension,
  type X509Certificate,
  X509CertificateGenerator,
} from "@peculiar/x509";

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const dayMs = 86_400_000;

/** Paths of a certificate and its private key, both in PEM. */
export interface CertificateFiles {
  certificate: string;
  key: string;
}

/** The subject of a certificate. Kubernetes reads `name` as the user and `group` as its group. */
interface Subject {
  name: string;
  group?: string;
  addresses?: string[];
  hosts?: string[];
  /** For half a day. */
  hasExpired?: true;
}

/** The certificate authority of one cluster. Its files are in a folder of their own. */
export class Authority {
  readonly files: CertificateFiles;
  readonly #folder: string;
  readonly #certificate: X509Certificate;
  readonly #key: webcrypto.CryptoKey;

  private constructor(folder: string, files: CertificateFiles, certificate: X509Certificate, key: webcrypto.CryptoKey) {
    this.#folder = folder;
    this.files = files;
    this.#certificate = certificate;
    this.#key = key;
  }

  static async create(folder: string): Promise<Authority> {
    await mkdir(folder);
    const keys = await makeKeys();
    const certificate = await X509CertificateGenerator.createSelfSigned({
      name: "CN=berth-test",
      keys,
      signingAlgorithm: algorithm,
      ...lifetime(),
      extensions: [
        new BasicConstraintsExtension(true, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      ],
    });
    const files = await save(folder, "authority", certificate, keys.privateKey);
    return new Authority(folder, files, certificate, keys.privateKey);
  }

  /** Makes the files `<file>.crt` and `<file>.key`, for a client and a server alike. */
  async certify(
    file: string,
    { name, group, addresses = [], hosts = [], hasExpired }: Subject,
  ): Promise<CertificateFiles> {
    const keys = await makeKeys();
    const subject = [...(group ? [{ O: [group] }] : []), { CN: [name] }];
    const alternatives = [
      ...addresses.map((value) => ({ type: "ip" as const, value })),
      ...hosts.map((value) => ({ type: "dns" as const, value })),
    ];
    const certificate = await X509CertificateGenerator.create({
      subject: subject as ConstructorParameters<typeof Name>[0],
      issuer: this.#certificate.subject,
      publicKey: keys.publicKey,
      signingKey: this.#key,
      signingAlgorithm: algorithm,
      ...lifetime(),
      ...(hasExpired ? { notAfter: new Date(Date.now() - dayMs / 2) } : {}),
      extensions: [
        new BasicConstraintsExtension(false, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth]),
        ...(alternatives.length > 0 ? [new SubjectAlternativeNameExtension(alternatives)] : []),
      ],
    });
    return save(this.#folder, file, certificate, keys.privateKey);
  }

  /** Writes a kubeconfig file with a new client certificate, and returns its path. */
  async kubeconfig(file: string, server: string, subject: Subject): Promise<string> {
    const { certificate, key } = await this.certify(file, subject);
    const config = {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "test", cluster: { server, "certificate-authority": this.files.certificate } }],
      users: [{ name: "test", user: { "client-certificate": certificate, "client-key": key } }],
      contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
      "current-context": "test",
    };
    const path = join(this.#folder, `${file}.kubeconfig`);
    await writeFile(path, JSON.stringify(config), { mode: 0o600 });
    return path;
  }
}

function makeKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]) as Promise<webcrypto.CryptoKeyPair>;
}

function lifetime(): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(Date.now() - dayMs), notAfter: new Date(Date.now() + dayMs) };
}

async function save(
  folder: string,
  file: string,
  certificate: X509Certificate,
  key: webcrypto.CryptoKey,
): Promise<CertificateFiles> {
  const paths = { certificate: join(folder, `${file}.crt`), key: join(folder, `${file}.key`) };
  const pkcs8 = await webcrypto.subtle.exportKey("pkcs8", key);
  await writeFile(paths.certificate, `${certificate.toString("pem")}\n`);
  await writeFile(paths.key, `${PemConverter.encode(pkcs8, "PRIVATE KEY")}\n`, { mode: 0o600 });
  return paths;
}
