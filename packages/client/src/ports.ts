import type { RequestOptions } from "./connection.ts";
import { PortsMethods } from "./generated/methods.gen.ts";
import type { Share } from "./generated/types.gen.ts";

/** The listening ports of an agent's machine. Every method throws as `Connection.call`. */
export class AgentPorts extends PortsMethods {
  /** The address of a port's page for a browser, which then stays admitted. Good once, for 30 s. */
  async preview(port: number, { path = "/", ...options }: RequestOptions & { path?: string } = {}): Promise<string> {
    const body = { for: "preview" as const, port, path };
    const { url } = await this.connection.call("createTicket", { path: this.path, body, ...options });
    return url!;
  }

  /** The address of a WebSocket that is one TCP connection to the port. Good once, for 30 s. */
  connectionUrl(port: number, options: RequestOptions = {}): Promise<string> {
    return this.connection.socketUrl("port", { ...this.path, path: `ports/${port}/connection` }, options);
  }

  /** A public link to the port's pages. `expiresAt`: ISO 8601. Only this response contains the link. */
  share(port: number, { expiresAt, ...options }: RequestOptions & { expiresAt?: string } = {}): Promise<Share> {
    const body = { public: true as const, ...(expiresAt === undefined ? {} : { expiresAt }) };
    return this.connection.call("createShare", { path: { ...this.path, port }, body, ...options });
  }
}
