import type { Connection, RequestOptions } from "./connection.ts";
import type { ListeningPort, Share, ShareRecord } from "./generated/types.gen.ts";

/** What listens in an agent's machine. Every method throws as `Connection.call`. */
export class AgentPorts {
  readonly #connection: Connection;
  readonly #path: { name: string };

  constructor(connection: Connection, path: { name: string }) {
    this.#connection = connection;
    this.#path = path;
  }

  async list(options: RequestOptions = {}): Promise<ListeningPort[]> {
    return (await this.#connection.call("listPorts", { path: this.#path, ...options })).data;
  }

  /** The address of a port's page for a browser, which then stays admitted. Good once, for 30 s. */
  async preview(port: number, { path = "/", ...options }: RequestOptions & { path?: string } = {}): Promise<string> {
    const body = { for: "preview" as const, port, path };
    const { url } = await this.#connection.call("createTicket", { path: this.#path, body, ...options });
    return url!;
  }

  /** The address of a WebSocket that is one TCP connection to the port. Good once, for 30 s. */
  connectionUrl(port: number, options: RequestOptions = {}): Promise<string> {
    return this.#connection.socketUrl("port", { ...this.#path, path: `ports/${port}/connection` }, options);
  }

  /** A public link to the port's pages. `expiresAt`: ISO 8601. The link is in the answer, and told only once. */
  share(port: number, { expiresAt, ...options }: RequestOptions & { expiresAt?: string } = {}): Promise<Share> {
    const body = { public: true as const, ...(expiresAt === undefined ? {} : { expiresAt }) };
    return this.#connection.call("createShare", { path: { ...this.#path, port }, body, ...options });
  }

  async shares(options: RequestOptions = {}): Promise<ShareRecord[]> {
    return (await this.#connection.call("listShares", { path: this.#path, ...options })).data;
  }

  /** Ends a public link. */
  async removeShare(shareId: string, options: RequestOptions = {}): Promise<void> {
    await this.#connection.call("removeShare", { path: { ...this.#path, shareId }, ...options });
  }
}
