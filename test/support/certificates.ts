import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CertificateFiles, HttpsConfig } from "../../src/config/config.ts";
import { certify, makeAuthority, makeKeys } from "../../src/egress/authority.ts";

/** HTTPS at a free port of this host, with the certificate in the files. */
export function httpsOf({ certificateFile, keyFile }: CertificateFiles): HttpsConfig {
  const files = { certificateFile, keyFile };
  return { files, acme: null, host: "127.0.0.1", port: 0, redirect: null, hstsSeconds: 0 };
}

/** Files of a certificate for the service, as an operator gives them to it. */
export class CertificateFolder {
  readonly certificateFile: string;
  readonly keyFile: string;

  constructor(folder: string) {
    this.certificateFile = join(folder, "tls.pem");
    this.keyFile = join(folder, "tls.key");
  }

  /** Writes a new certificate for the name, and its key. Returns its authority's. */
  async write(name: string): Promise<string> {
    const authority = await makeAuthority("test");
    const { certificate, key } = await certify(authority, { kind: "name", text: name }, await makeKeys());
    await writeFile(this.certificateFile, certificate);
    await writeFile(this.keyFile, key);
    return authority.certificate;
  }
}
