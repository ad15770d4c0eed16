import type { Connection, RequestOptions } from "./connection.ts";
import type { SshAccess } from "./generated/types.gen.ts";

/** SSH into an agent's machine. Every method throws as `Connection.call`. */
export class AgentSsh {
  readonly #connection: Connection;
  readonly #path: { name: string };

  constructor(connection: Connection, path: { name: string }) {
    this.#connection = connection;
    this.#path = path;
  }

  /** A certificate for a public key of the kind ssh-ed25519, good for five minutes, and the machine's own key. */
  certify(
    publicKey: string,
    { user = "agent", ...options }: RequestOptions & { user?: "agent" | "root" } = {},
  ): Promise<SshAccess> {
    return this.#connection.call("certifySsh", { path: this.#path, body: { publicKey, user }, ...options });
  }

  /** The address of a WebSocket that is a connection to the machine's SSH server. Good once, for 30 s. */
  connectionUrl(options: RequestOptions = {}): Promise<string> {
    return this.#connection.socketUrl("ssh", { ...this.#path, path: "ssh/connection" }, options);
  }
}
