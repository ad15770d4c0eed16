import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import type { WebhookEvent } from "../../src/contract/webhook-events.ts";
import { TrustedServer } from "./trusted-server.ts";

/** A delivery as the receiver got it. */
export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A receiver of webhooks. */
export class WebhookReceiver extends TrustedServer {
  readonly received: Received[] = [];
  /** Answers a delivery that it has stored; by default with 204. */
  answer: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => {
    response.writeHead(204).end();
  };

  static async start(): Promise<WebhookReceiver> {
    return new WebhookReceiver(await TrustedServer.parts());
  }

  protected async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    this.received.push({ path: request.url!, headers: request.headers, body });
    this.answer(request, response);
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
}
