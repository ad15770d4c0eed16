import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { certify, makeAuthority, makeKeys } from "../../src/egress/authority.ts";

interface Parts {
  server: Server;
  /** The certificate's authority, in PEM. */
  authority: string;
}

/** An HTTPS server of this host, whose certificate this process trusts. */
export abstract class TrustedServer implements Disposable {
  readonly authority: string;
  readonly #server: Server;
  readonly #trusted = getCACertificates("default");

  protected constructor({ server, authority }: Parts) {
    this.#server = server;
    this.authority = authority;
    setDefaultCACertificates([...this.#trusted, authority]);
    server.on("request", (request: IncomingMessage, response: ServerResponse) => this.take(request, response));
  }

  static async parts(): Promise<Parts> {
    const { certificate: authority, ...keys } = await makeAuthority("test");
    const name = { kind: "name", text: "localhost" } as const;
    const { certificate: cert, key } = await certify({ certificate: authority, ...keys }, name, await makeKeys());
    const server = createServer({ cert, key }).listen(0, "127.0.0.1");
    await once(server, "listening");
    return { server, authority };
  }

  get authorityText(): string {
    return `localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  url(path: string): string {
    return `https://${this.authorityText}${path}`;
  }

  /** Takes a request. A rejection is a bug of the test. */
  protected abstract take(request: IncomingMessage, response: ServerResponse): Promise<void>;

  [Symbol.dispose](): void {
    setDefaultCACertificates(this.#trusted);
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
