import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A host on `localhost` that answers with the headers that it got, in base64, or the values in it would be concealed. */
export class TellingHost implements Disposable {
  readonly #server: Server;

  private constructor() {
    this.#server = createServer(({ headers }, response) => {
      response.end(Buffer.from(JSON.stringify(headers)).toString("base64"));
    });
  }

  static async start(): Promise<TellingHost> {
    const host = new TellingHost();
    host.#server.listen(0, "127.0.0.1");
    await once(host.#server, "listening");
    return host;
  }

  /** As `egressInside` names it. */
  get authority(): string {
    return `localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  /** As a secret's host. */
  get secretHost(): string {
    return `http://${this.authority}`;
  }

  /** The headers that the host got with a request of a program in a machine. */
  async ask(proxy: string, headers: Record<string, string>): Promise<Record<string, string>> {
    const asked = request(proxy, { path: `${this.secretHost}/`, headers: { host: this.authority, ...headers } }).end();
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    return told(await text(response));
  }

  [Symbol.dispose](): void {
    this.#server.close().closeAllConnections();
  }
}

/** The headers in an answer of the host. */
export function told(body: string): Record<string, string> {
  return JSON.parse(Buffer.from(body, "base64").toString());
}
