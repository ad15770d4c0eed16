import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import { guestProtocol } from "./keeper-calls.ts";

/** The response to a request that is upgraded to a connection to the guest. */
export const switching = `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: ${guestProtocol}\r\n\r\n`;

/**
 * Model calls of templates that a keeper makes. A keeper has no network access, so the server that requests the
 * template keeps a connection open for them.
 */
export class TemplateUplinks {
  #waiting: Duplex | null = null;

  /** Keeps a server's connection until a template has model calls. Only the last one is kept. */
  offer(connection: Duplex): void {
    this.#waiting?.destroy();
    this.#waiting = connection;
  }

  /** Connects a template's uplink to the waiting server. Without one, its calls fail. */
  serve(uplink: Duplex): void {
    const server = this.#waiting;
    this.#waiting = null;
    if (!server) return void uplink.destroy();
    server.write(switching);
    Promise.all([pipeline(server, uplink), pipeline(uplink, server)]).catch(() => {});
  }
}
