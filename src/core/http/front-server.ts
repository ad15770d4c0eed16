import { EventEmitter } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer, type Server as SecureServer, type ServerOptions } from "node:https";
import type { Duplex } from "node:stream";
import type { PreviewServer } from "../../previews/preview-server.ts";

/** The protocol of connections that validate a challenge of TLS-ALPN-01 (RFC 8737, 6.2). */
export const acmeProtocol = "acme-tls/1";

const headersTimeoutMs = 15_000;
const timeoutCheckMs = 5_000;
/** Above the idle time of usual proxies, 60 s, so that they close idle connections first. */
const keepAliveMs = 72_000;

// `limitReceiving` limits the time after the headers.
const options = {
  headersTimeout: headersTimeoutMs,
  connectionsCheckingInterval: timeoutCheckMs,
  requestTimeout: 0,
  // A request that offers any other protocol is an ordinary one (RFC 9110, 7.8).
  shouldUpgradeCallback: ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === "websocket",
};

/** The server's sockets: routes requests to previews or to the API. */
export class FrontServer {
  /** Emits the API's `upgrade` events. */
  readonly upgrades = new EventEmitter();
  readonly #previews: PreviewServer;
  #api: RequestListener = () => {};

  constructor(previews: PreviewServer) {
    this.#previews = previews;
  }

  /** The HTTP server, for Fastify. */
  readonly create = (api: RequestListener): Server => {
    this.#api = api;
    return this.#prepare(createServer(options));
  };

  /**
   * An HTTPS server that answers as the one that `create` returned. `hstsSeconds`: for how long browsers use HTTPS only;
   * 0: they do not learn that.
   */
  createSecure(hstsSeconds: number, tls: ServerOptions): SecureServer {
    const server = createSecureServer({ ...options, ...tls });
    // Before the answers, so that those of agents' pages and other servers have it too.
    const hsts = `max-age=${hstsSeconds}`;
    if (hstsSeconds > 0) server.on("request", (_, response) => response.setHeader("strict-transport-security", hsts));
    // A validation of a challenge has been answered by the handshake.
    server.prependListener("secureConnection", (socket) => {
      if (socket.alpnProtocol === acmeProtocol) socket.destroySoon();
    });
    return this.#prepare(server);
  }

  #prepare<Any extends Server | SecureServer>(server: Any): Any {
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      if (this.#previews.owns(request)) this.#previews.answer(request, response);
      else this.#api(request, response);
    });
    server.keepAliveTimeout = keepAliveMs;
    server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (this.#previews.owns(request)) this.#previews.upgrade(request, socket, head);
      else {
        // Unread it for the socket's next reader: a request may be forwarded.
        if (head.length > 0) socket.unshift(head);
        this.upgrades.emit("upgrade", request, socket, Buffer.alloc(0));
      }
    });
    return server;
  }
}
