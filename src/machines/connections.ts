import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { BerthError } from "../contract/errors.ts";
import type { Hello } from "../contract/guest.ts";
import { type Channel, connectChannel } from "./connect.ts";
import type { Driver } from "./driver.ts";
import { type GuestClient, GuestConnection } from "./guest-client.ts";

/** For a guest that was adopted and runs to take a connection. */
const dialTimeoutMs = 10_000;
/** For one that may still boot: under emulation about ten seconds on a quiet machine. */
const uplinkTimeoutMs = 180_000;
const redialMs = 200;

/**
 * The connections with the guests of the machines that run: of each its control channel, which is dialled when it is
 * needed, and its uplink, which is kept.
 */
export class Connections {
  readonly #driver: () => Promise<Driver>;
  readonly #serveUplink: (id: string, socket: Socket) => void;
  readonly #log: (message: string, error: unknown) => void;
  readonly #controls = new Map<string, Promise<GuestConnection>>();
  readonly #uplinks = new Map<string, Socket>();
  #closed = false;

  constructor(
    driver: () => Promise<Driver>,
    serveUplink: (id: string, socket: Socket) => void,
    log: (message: string, error: unknown) => void,
  ) {
    this.#driver = driver;
    this.#serveUplink = serveUplink;
    this.#log = log;
  }

  /** True after `close`. */
  get closed(): boolean {
    return this.#closed;
  }

  /** An adopted guest, dialled anew where its connection was lost. */
  async guest(id: string): Promise<GuestClient> {
    const control = await this.#controls.get(id)?.catch(() => null);
    if (control?.open) return control.guest;
    const connecting = this.#connect(id);
    this.#controls.set(id, connecting);
    return (await connecting).guest;
  }

  /** A guest that waits for its adoption and takes one of these tokens; answers which. */
  async unadopted(
    id: string,
    tokens: readonly string[],
    timeoutMs: number,
  ): Promise<{ guest: GuestClient; token: string }> {
    const hellos = tokens.map((token) => ({ channel: "control" as const, token }));
    const { socket, hello } = await this.#dial(id, hellos, timeoutMs);
    const control = new GuestConnection(socket);
    this.#controls.set(id, Promise.resolve(control));
    return { guest: control.guest, token: hello.token };
  }

  /** Keeps the uplink for as long as the machine runs: it is dialled again when it is lost. */
  async keepUplink(id: string, token: string): Promise<void> {
    const driver = await this.#driver();
    while (!this.#closed) {
      try {
        const { socket } = await this.#dial(id, [{ channel: "uplink", token }], uplinkTimeoutMs);
        this.#uplinks.set(id, socket);
        const lost = new Promise((resolve) => socket.once("close", resolve));
        this.#serveUplink(id, socket);
        await lost;
        if (this.#uplinks.get(id) !== socket) return; // Another took its place.
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

  /** Hangs up on a guest. */
  disconnect(id: string): void {
    void this.#controls
      .get(id)
      ?.then((control) => control[Symbol.dispose]())
      .catch(() => {});
    this.#controls.delete(id);
    const uplink = this.#uplinks.get(id);
    this.#uplinks.delete(id);
    uplink?.destroy();
  }

  /** Hangs up on all guests, and dials none any more. */
  close(): void {
    this.#closed = true;
    for (const id of [...this.#controls.keys(), ...this.#uplinks.keys()]) this.disconnect(id);
  }

  async #connect(id: string): Promise<GuestConnection> {
    const token = await (await this.#driver()).token(id);
    const { socket } = await this.#dial(id, [{ channel: "control", token }], dialTimeoutMs);
    if (!this.#uplinks.has(id)) void this.keepUplink(id, token);
    return new GuestConnection(socket);
  }

  /** Throws `shutting_down` after `close`. */
  async #dial(id: string, hellos: readonly Hello[], timeoutMs: number): Promise<Channel> {
    const driver = await this.#driver();
    const channel = await connectChannel(() => driver.dial(id), hellos, timeoutMs);
    if (!this.#closed) return channel;
    channel.socket.destroy();
    throw new BerthError("shutting_down", "The service is being stopped.");
  }
}
