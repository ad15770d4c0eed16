import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A request as the payment provider received it. */
interface Asked {
  path: string;
  authorization: string;
  idempotencyKey: unknown;
  form: URLSearchParams;
}

/** The part of Stripe's API that creates payment pages. Tests send the webhooks. */
export class StripeServer implements AsyncDisposable {
  readonly asked: Asked[] = [];
  /** Each payment's metadata, by payment id. Payments not listed have none. */
  readonly payments = new Map<string, Record<string, string>>();
  /** Any status other than 200 refuses the request. */
  status = 200;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer(async (request, response) => {
      const { authorization = "", "idempotency-key": idempotencyKey } = request.headers;
      const form = new URLSearchParams(await text(request));
      const intent = /^\/v1\/payment_intents\/(.+)$/.exec(request.url!)?.[1];
      if (intent !== undefined) {
        const metadata = this.payments.get(intent) ?? {};
        return void response.end(JSON.stringify({ id: intent, object: "payment_intent", metadata }));
      }
      this.asked.push({ path: request.url!, authorization, idempotencyKey, form });
      response.writeHead(this.status, { "content-type": "application/json" });
      const page = { url: "https://pay.example/cs_1", expires_at: 1_900_000_000 };
      const error = { type: "invalid_request_error", message: `No such key: ${authorization}` };
      response.end(
        JSON.stringify(this.status === 200 ? { id: "cs_1", object: "checkout.session", ...page } : { error }),
      );
    });
  }

  static async start(): Promise<StripeServer> {
    const made = new StripeServer();
    made.#server.listen(0, "127.0.0.1");
    await once(made.#server, "listening");
    return made;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
