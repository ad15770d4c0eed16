import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { BerthError } from "../contract/errors.ts";
import type { ChannelName, Download } from "../contract/guest.ts";
import type { GuestClient } from "../contract/guest-calls.ts";
import { type Channel, connectChannel, openChannel } from "./connect.ts";
import type { Driver } from "./driver.ts";
import { GuestConnection } from "./guest-client.ts";

/** The timeout for an adopted guest to accept a connection. */
const dialTimeoutMs = 10_000;
/**
 * The timeout for a guest that may still be booting, which takes about ten seconds under emulation on a quiet machine.
 */
const uplinkTimeoutMs = 180_000;
const redialMs = 200;
/** The timeout for a guest to accept a download, which waits until its program has read the earlier bytes. */
const downloadTimeoutMs = 10_000;

/** Opens a download to a guest. Rejects if the guest does not accept it. */
export type OpenDownload = (download: Download) => Promise<Socket>;

/** Serves a guest's uplink. `openDownload` opens downloads to that guest. */
export type ServeUplink = (id: string, socket: Socket, openDownload: OpenDownload) => void;

export interface ConnectionsOptions {
  /** Serves a machine's model calls and outbound connections over its uplink. */
  serveUplink: ServeUplink;
  /** The account of a running machine's agent; null for a machine without an agent. */
  accountOf: (id: string) => string | null;
  log: (message: string, error: unknown) => void;
}

/**
 * The connections to the guests of running machines. Each guest has a control channel, dialled on demand, and an
 * uplink, kept open.
 */
export class Connections {
  readonly #driver: () => Promise<Driver>;
  readonly #serveUplink: ServeUplink;
  readonly #accountOf: (id: string) => string | null;
  readonly #log: (message: string, error: unknown) => void;
  readonly #controls = new Map<string, Promise<GuestConnection>>();
  /** Control channels to guests that await adoption, and the token that each knows; null while dialling. */
  readonly #unadopted = new Map<string, { control: GuestConnection; token: string } | null>();
  readonly #uplinks = new Map<string, Socket>();
  #closed = false;

  constructor(driver: () => Promise<Driver>, { serveUplink, accountOf, log }: ConnectionsOptions) {
    this.#driver = driver;
    this.#serveUplink = serveUplink;
    this.#accountOf = accountOf;
    this.#log = log;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Connects to an adopted guest, redialling a lost connection. Throws `machine_lost` for one that awaits adoption. */
  async guest(id: string): Promise<GuestClient> {
    // The caller may not have noticed yet that the agent's machine stopped and its next one is starting.
    if (this.#unadopted.has(id)) throw new BerthError("machine_lost", "The agent's machine is still starting.");
    const control = await this.#controls.get(id)?.catch(() => null);
    if (control?.open) return control.guest;
    const connecting = this.#connect(id);
    this.#controls.set(id, connecting);
    return (await connecting).guest;
  }

  /**
   * Connects to a guest that awaits adoption and knows one of these tokens, and returns that token. A spare is
   * connected already.
   */
  async unadopted(
    id: string,
    tokens: readonly string[],
    timeoutMs: number,
  ): Promise<{ guest: GuestClient; token: string }> {
    const open = this.#unadopted.get(id);
    if (open?.control.open && tokens.includes(open.token)) return { guest: open.control.guest, token: open.token };
    this.disconnect(id);
    this.#unadopted.set(id, null);
    const { socket, token } = await this.#dial(id, "control", tokens, timeoutMs);
    const control = this.#connection(id, socket);
    this.#controls.set(id, Promise.resolve(control));
    this.#unadopted.set(id, { control, token });
    return { guest: control.guest, token };
  }

  /** The guest awaits another adoption, with another token. */
  retoken(id: string, token: string): void {
    const open = this.#unadopted.get(id);
    if (open) open.token = token;
  }

  /** The guest has its agent's identity: `guest` returns it from now on. */
  adopted(id: string): void {
    this.#unadopted.delete(id);
  }

  /** Keeps the uplink open while the machine runs, redialling it when it is lost. */
  async keepUplink(id: string, token: string): Promise<void> {
    const driver = await this.#driver();
    while (!this.#closed) {
      try {
        const { socket } = await this.#dial(id, "uplink", [token], uplinkTimeoutMs);
        this.#uplinks.set(id, socket);
        const lost = new Promise((resolve) => socket.once("close", resolve));
        this.#serveUplink(id, socket, (download) => this.openDownload(id, download));
        await lost;
        if (this.#uplinks.get(id) !== socket) return; // Another connection has replaced it.
        this.#uplinks.delete(id);
      } catch (error) {
        if (!this.#closed) this.#log("the uplink of a machine cannot be connected", error);
        return;
      }
      const { phase } = await driver.observe(id).catch(() => ({ phase: "running" }));
      if (phase !== "running") return;
      await sleep(redialMs);
    }
  }

  /** Serves an uplink during `work`, without redialling. */
  async withUplink(id: string, token: string, serve: (socket: Socket) => void, work: () => Promise<unknown>) {
    const { socket } = await this.#dial(id, "uplink", [token], dialTimeoutMs);
    this.#uplinks.set(id, socket);
    serve(socket);
    try {
      await work();
    } finally {
      socket.destroy();
      if (this.#uplinks.get(id) === socket) this.#uplinks.delete(id);
    }
  }

  disconnect(id: string): void {
    void this.#controls
      .get(id)
      ?.then((control) => control[Symbol.dispose]())
      .catch(() => {});
    this.#controls.delete(id);
    this.#unadopted.delete(id);
    const uplink = this.#uplinks.get(id);
    this.#uplinks.delete(id);
    uplink?.destroy();
  }

  /** Disconnects all guests and dials no more. */
  close(): void {
    this.#closed = true;
    for (const id of [...this.#controls.keys(), ...this.#uplinks.keys()]) this.disconnect(id);
  }

  async #connect(id: string): Promise<GuestConnection> {
    const token = await (await this.#driver()).token(id);
    const { socket } = await this.#dial(id, "control", [token], dialTimeoutMs);
    if (!this.#uplinks.has(id)) void this.keepUplink(id, token);
    return this.#connection(id, socket);
  }

  #connection(id: string, socket: Socket): GuestConnection {
    return new GuestConnection({ machine: id, account: () => this.#accountOf(id) }, socket);
  }

  /** Opens a download to an adopted guest. Tries once: data of a refused download takes another path. */
  async openDownload(id: string, download: Download): Promise<Socket> {
    const driver = await this.#driver();
    const [token, socket] = [await driver.token(id), await driver.dial(id)];
    try {
      const request = { channel: "download", tokens: [token], handshake: "proof", download } as const;
      await openChannel(socket, request, downloadTimeoutMs);
      return socket;
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }

  /** Throws `shutting_down` after `close`. */
  async #dial(id: string, channel: ChannelName, tokens: readonly string[], timeoutMs: number): Promise<Channel> {
    const driver = await this.#driver();
    const request = { channel, tokens, handshake: await driver.handshake(id) };
    const opened = await connectChannel(() => driver.dial(id), request, timeoutMs);
    if (!this.#closed) return opened;
    opened.socket.destroy();
    throw new BerthError("shutting_down", "The service is shutting down.");
  }
}
