import { once } from "node:events";
import type { Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { Logger } from "pino";
import type { ListenAddress } from "../config/config.ts";
import { type Certificate, namesOf } from "./certificate.ts";

/** The options of TLS for a server. Clients older than TLS 1.2 are rejected. */
export const tlsOptions = { minVersion: "TLSv1.2", handshakeTimeout: 15_000 } as const;

/** Serves HTTPS with a certificate that can be replaced. Open connections continue with the earlier one. */
export class SecureListener {
  readonly #address: ListenAddress;
  readonly #logger: Logger;
  #server: Server | null = null;
  #certificate: Certificate | null = null;

  constructor(address: ListenAddress, logger: Logger) {
    this.#address = address;
    this.#logger = logger;
  }

  /** Sets the server that answers; it does not listen yet. */
  serveBy(server: Server): void {
    this.#server = server;
  }

  /**
   * Listens and returns the address, `https://HOST:PORT`. Without a certificate, TLS handshakes fail. Throws the
   * system's error if the port cannot be used.
   */
  async open(): Promise<string> {
    const server = this.#server!;
    const { host, port } = this.#address;
    server.listen({ port, ...(host === null ? {} : { host }) });
    await once(server, "listening");
    const { address, family, port: found } = server.address() as AddressInfo;
    return `https://${family === "IPv6" ? `[${address}]` : address}:${found}`;
  }

  /** The certificate in use; null: none yet. */
  get certificate(): Certificate | null {
    return this.#certificate;
  }

  /** New connections get this certificate. */
  use(certificate: Certificate): void {
    const { certificate: cert, key, leaf, expiresAt } = certificate;
    this.#server!.setSecureContext({ ...tlsOptions, cert, key });
    this.#certificate = certificate;
    this.#logger.info({ names: namesOf(leaf), expiresAt }, "a TLS certificate is in use");
  }

  /** Accepts no new connections. */
  close(): void {
    this.#server?.close();
  }
}
