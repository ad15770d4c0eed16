import { isDeepStrictEqual } from "node:util";
import type { Logger } from "pino";
import type { CertificateFiles } from "../config/config.ts";
import type { AppContext } from "../context.ts";
import { checkKeyPair, describe, type KeyPair, readKeyPair } from "./certificate.ts";
import type { CertificateSource } from "./certificate-source.ts";
import type { SecureListener } from "./secure-listener.ts";

/** How often the files are read. Changed files are used once they are the same twice. */
const checkMs = 2_000;

/** The certificate in files that somebody else renews. */
export class CertificateFileWatch implements CertificateSource {
  readonly #files: CertificateFiles;
  readonly #listener: SecureListener;
  readonly #logger: Logger;
  #timer: NodeJS.Timeout | undefined;
  /** The contents that were read last. */
  #seen: KeyPair | null = null;
  /** The contents that were last used or rejected. */
  #judged: KeyPair | null = null;
  /** Why the files cannot replace the certificate in use; null if they can. */
  #fault: string | null = null;

  constructor(files: CertificateFiles, listener: SecureListener, logger: Logger) {
    this.#files = files;
    this.#listener = listener;
    this.#logger = logger;
  }

  /** Throws `CertificateError`. */
  async load(): Promise<void> {
    this.#use(await readKeyPair(this.#files));
  }

  start(): void {
    this.#timer = setInterval(() => void this.#check(), checkMs).unref();
  }

  reload(): Promise<void> {
    return this.#attempt((pair) => this.#use(pair));
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
  }

  get status(): { ok: boolean; message: string } {
    const { certificate } = this.#listener;
    const found = certificate ? describe(certificate) : "none";
    const fault = this.#fault === null ? "" : `; the new files were rejected: ${this.#fault}`;
    return { ok: certificate !== null, message: found + fault };
  }

  #check(): Promise<void> {
    return this.#attempt((pair) => {
      const isWritten = isDeepStrictEqual(pair, this.#seen);
      this.#seen = pair;
      const { certificate, key } = this.#listener.certificate!;
      if (isDeepStrictEqual(pair, { certificate, key })) this.#fault = null;
      if (isWritten && !isDeepStrictEqual(pair, this.#judged)) this.#use(pair);
    });
  }

  /** Logs each error once, until there is another or none. */
  async #attempt(take: (pair: KeyPair) => void): Promise<void> {
    try {
      take(await readKeyPair(this.#files));
    } catch (error) {
      const { message } = error as Error;
      if (message === this.#fault) return;
      this.#fault = message;
      this.#logger.error(`the new TLS certificate was rejected, the one in use is kept: ${message}`);
    }
  }

  #use(pair: KeyPair): void {
    this.#judged = pair;
    this.#listener.use(checkKeyPair(pair));
    this.#fault = null;
  }
}

/** Null if the certificate is not in files. */
export function openCertificateFiles({ config, secure, logger }: AppContext): CertificateFileWatch | null {
  return config.https?.files ? new CertificateFileWatch(config.https.files, secure!, logger) : null;
}
