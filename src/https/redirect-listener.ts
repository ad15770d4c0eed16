import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Acme } from "../acme/acme.ts";
import type { ListenAddress } from "../config/config.ts";
import type { AppContext } from "../context.ts";

const challengePrefix = "/.well-known/acme-challenge/";
const receiveMs = 10_000;
const checkMs = 2_000;
const maximumConnections = 1_000;
const maximumHeaderBytes = 8 * 1024;

/** Plain HTTP for others: answers challenges of HTTP-01, and redirects everything else to the public URL. */
export class RedirectListener {
  readonly #address: ListenAddress;
  readonly #publicUrl: string;
  readonly #acme: Acme | null;
  readonly #server: Server;

  constructor(address: ListenAddress, publicUrl: string, acme: Acme | null) {
    this.#address = address;
    this.#publicUrl = publicUrl;
    this.#acme = acme;
    this.#server = createServer(
      {
        maxHeaderSize: maximumHeaderBytes,
        headersTimeout: receiveMs,
        requestTimeout: receiveMs,
        connectionsCheckingInterval: checkMs,
      },
      (request, response) => void this.#answer(request, response),
    );
    this.#server.maxConnections = maximumConnections;
  }

  /** Listens and returns the port. Throws the system's error if it cannot be used. */
  async open(): Promise<number> {
    const { host, port } = this.#address;
    this.#server.listen({ port, ...(host === null ? {} : { host }) });
    await once(this.#server, "listening");
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #answer({ method, url = "/" }: IncomingMessage, response: ServerResponse): Promise<void> {
    const say = (status: number, text: string, headers: Record<string, string> = {}) => {
      const length = { "content-type": "text/plain", "content-length": Buffer.byteLength(text) };
      response.writeHead(status, { ...headers, ...length, connection: "close" }).end(text);
    };
    if (method !== "GET" && method !== "HEAD") return say(405, "Use HTTPS.\n", { allow: "GET, HEAD" });
    if (!url.startsWith(challengePrefix)) return say(308, "Use HTTPS.\n", { location: this.#target(url) });
    const found = await this.#acme?.responseTo(url.slice(challengePrefix.length));
    if (found === undefined || found === null) return say(404, "There is no such challenge.\n");
    say(200, found);
  }

  /** Never at another origin, whatever the request's `Host` and target are. */
  #target(url: string): string {
    const { origin } = new URL(this.#publicUrl);
    const target = url.startsWith("/") ? URL.parse(origin + url) : null;
    return target?.origin === origin ? target.href : this.#publicUrl;
  }
}

/** Null where plain HTTP is not redirected. */
export function openRedirect({ config, acme }: AppContext): RedirectListener | null {
  return config.https?.redirect ? new RedirectListener(config.https.redirect, config.publicUrl!, acme) : null;
}
