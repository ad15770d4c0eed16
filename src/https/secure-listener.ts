import { once } from "node:events";
import type { Server } from "node:https";
import type { AddressInfo } from "node:net";
import { isDeepStrictEqual } from "node:util";
import type { Logger } from "pino";
import type { HttpsConfig } from "../config/config.ts";
import { type Certificate, checkKeyPair, type KeyPair, namesOf, readKeyPair } from "./certificate.ts";

/** How often the files are read. Changed files are used once they are the same twice. */
const checkMs = 2_000;

/** The options of TLS for a server. Clients older than TLS 1.2 are rejected. */
export const tlsOptions = { minVersion: "TLSv1.2", ALPNProtocols: ["http/1.1"], handshakeTimeout: 15_000 } as const;

/**
 * Serves HTTPS, and replaces its certificate when the files change or on `reload`. Open connections continue with the
 * earlier certificate.
 */
export class SecureListener {
  readonly #config: HttpsConfig;
  readonly #logger: Logger;
  #server: Server | null = null;
  #timer: NodeJS.Timeout | undefined;
  #certificate: Certificate | null = null;
  /** The contents that were read last. */
  #seen: KeyPair | null = null;
  /** The contents that were last used or rejected. */
  #judged: KeyPair | null = null;
  /** Why the files cannot replace the certificate in use; null if they can. */
  #fault: string | null = null;

  constructor(config: HttpsConfig, logger: Logger) {
    this.#config = config;
    this.#logger = logger;
  }

  /** Sets the server that answers; it does not listen yet. */
  serveBy(server: Server): void {
    this.#server = server;
  }

  /**
   * Listens and returns the address, `https://HOST:PORT`. Throws `CertificateError`, or the system's error
   * if the port cannot be used.
   */
  async open(): Promise<string> {
    const server = this.#server!;
    this.#use(await readKeyPair(this.#config));
    const { host, port } = this.#config;
    server.listen({ port, ...(host === null ? {} : { host }) });
    await once(server, "listening");
    this.#timer = setInterval(() => void this.#check(), checkMs).unref();
    const { address, family, port: found } = server.address() as AddressInfo;
    return `https://${family === "IPv6" ? `[${address}]` : address}:${found}`;
  }

  /** The certificate in use; null before it is open. */
  get certificate(): Certificate | null {
    return this.#certificate;
  }

  /** Reads the files now. Keeps the certificate in use, and logs an error, if they cannot be used. */
  reload(): Promise<void> {
    return this.#attempt((pair) => this.#use(pair));
  }

  /** Accepts no new connections. */
  close(): void {
    clearInterval(this.#timer);
    this.#server?.close();
  }

  #check(): Promise<void> {
    return this.#attempt((pair) => {
      const isWritten = isDeepStrictEqual(pair, this.#seen);
      this.#seen = pair;
      const { certificate, key } = this.#certificate!;
      if (isDeepStrictEqual(pair, { certificate, key })) this.#fault = null;
      if (isWritten && !isDeepStrictEqual(pair, this.#judged)) this.#use(pair);
    });
  }

  /** Logs each error once, until there is another or none. */
  async #attempt(take: (pair: KeyPair) => void): Promise<void> {
    try {
      take(await readKeyPair(this.#config));
    } catch (error) {
      const { message } = error as Error;
      if (message === this.#fault) return;
      this.#fault = message;
      this.#logger.error(`the new TLS certificate was rejected, the one in use is kept: ${message}`);
    }
  }

  #use(pair: KeyPair): void {
    this.#judged = pair;
    const certificate = checkKeyPair(pair);
    this.#server!.setSecureContext({ ...tlsOptions, cert: pair.certificate, key: pair.key });
    this.#certificate = certificate;
    this.#fault = null;
    const { leaf, expiresAt } = certificate;
    this.#logger.info({ names: namesOf(leaf), expiresAt }, "a TLS certificate is in use");
  }
}
