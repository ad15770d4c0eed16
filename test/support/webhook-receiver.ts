import { once } from "node:events";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { Webhook } from "standardwebhooks";
import type { WebhookEvent } from "../../src/contract/webhook-events.ts";
import { certify, makeAuthority, makeKeys } from "../../src/egress/authority.ts";

/** A delivery as the receiver got it. */
export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A receiver of webhooks: an HTTPS server of this host, whose certificate this process trusts. */
export class WebhookReceiver implements Disposable {
  readonly received: Received[] = [];
  readonly #server: Server;
  readonly #trusted = getCACertificates("default");
  /** The certificate's authority, in PEM. */
  readonly authority: string;
  /** Answers a delivery that it has stored; by default with 204. */
  answer: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => {
    response.writeHead(204).end();
  };

  private constructor(server: Server, authority: string) {
    this.#server = server;
    this.authority = authority;
    setDefaultCACertificates([...this.#trusted, authority]);
    server.on("request", async (request: IncomingMessage, response: ServerResponse) => {
      const body = await text(request);
      this.received.push({ path: request.url!, headers: request.headers, body });
      this.answer(request, response);
    });
  }

  static async start(): Promise<WebhookReceiver> {
    const authority = await makeAuthority("test");
    const { certificate: cert, key } = await certify(authority, { kind: "name", text: "localhost" }, await makeKeys());
    const server = createServer({ cert, key }).listen(0, "127.0.0.1");
    await once(server, "listening");
    return new WebhookReceiver(server, authority.certificate);
  }

  get authorityText(): string {
    return `localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  url(path: string): string {
    return `https://${this.authorityText}${path}`;
  }

  /** The deliveries at a path, verified with the secret. */
  events(path: string, secret: string): WebhookEvent[] {
    const verifier = new Webhook(secret);
    return this.at(path).map(
      ({ body, headers }) => verifier.verify(body, headers as Record<string, string>) as WebhookEvent,
    );
  }

  at(path: string): Received[] {
    return this.received.filter((each) => each.path === path);
  }

  [Symbol.dispose](): void {
    setDefaultCACertificates(this.#trusted);
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
