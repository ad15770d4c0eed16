import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";

/**
 * A message of OpenClaw's gateway over its WebSocket: an event, or the response to a request. `agent` gets two
 * responses: first `accepted`, and another when the run has ended. https://docs.openclaw.ai/gateway/protocol/transport
 */
const Frame = z.discriminatedUnion("type", [
  z.object({ type: z.literal("event"), event: z.string(), payload: z.unknown() }),
  z.object({
    type: z.literal("res"),
    id: z.string(),
    ok: z.boolean(),
    payload: z.unknown(),
    error: z.object({ message: z.string() }).optional(),
  }),
]);
const Accepted = z.object({ status: z.literal("accepted") });

/** The protocol version of OpenClaw 2026.9. */
const protocol = 4;

/** Between two attempts to connect while OpenClaw starts. */
const retryMs = 1_000;

interface Request {
  resolve: (payload: unknown) => void;
  reject: (error: Error) => void;
}

/** A connection to the gateway of an OpenClaw on this machine. */
export class OpenclawGateway {
  readonly #socket: WebSocket;
  readonly #requests = new Map<string, Request>();
  readonly #listeners = new Set<(event: string, payload: unknown) => void>();
  /** Settles when the connection has ended. */
  readonly closed: Promise<void>;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => this.#take(String(data)));
    this.closed = new Promise((resolve) => socket.addEventListener("close", () => resolve(), { once: true }));
    socket.addEventListener("close", ({ code, reason }) => {
      for (const { reject } of this.#requests.values()) {
        reject(new Error(`openclaw closed the connection (${code} ${reason})`));
      }
      this.#requests.clear();
    });
    socket.addEventListener("error", () => {}); // The close that follows reports it.
  }

  /** Connects as soon as OpenClaw accepts. Rejects with the reason of `signal` when it aborts. */
  static async connect(url: string, token: string, signal: AbortSignal): Promise<OpenclawGateway> {
    while (true) {
      signal.throwIfAborted();
      const gateway = new OpenclawGateway(new WebSocket(url));
      const opened = await gateway.#open(token).catch((error: Error) => error);
      if (!(opened instanceof Error)) return gateway;
      gateway.close();
      await sleep(retryMs, undefined, { signal }).catch(() => {});
    }
  }

  /**
   * The gateway sends a challenge, meant for clients with their own key. A client on its machine that has the token and
   * identifies as a back end can ignore it, and gets all the rights it requests.
   * https://docs.openclaw.ai/gateway/protocol/handshake
   */
  async #open(token: string): Promise<void> {
    await this.#greeted();
    await this.request("connect", {
      minProtocol: protocol,
      maxProtocol: protocol,
      client: { id: "gateway-client", version: "1", platform: "linux", mode: "backend" },
      role: "operator",
      scopes: ["operator.admin", "operator.read", "operator.write"],
      // Without it, a run's tool events are not sent.
      caps: ["tool-events"],
      auth: { token },
    });
  }

  #greeted(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.subscribe((event) => {
        if (event === "connect.challenge") resolve();
      });
      this.#socket.addEventListener("close", () => reject(new Error("openclaw does not listen yet")), { once: true });
    });
  }

  /** Calls `listener` with each event until the returned function is called. */
  subscribe(listener: (event: string, payload: unknown) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Sends a request and resolves with its final response. Rejects with OpenClaw's own message. */
  request(method: string, params: object): Promise<unknown> {
    if (this.#socket.readyState !== WebSocket.OPEN) return Promise.reject(new Error("openclaw is not connected"));
    return new Promise((resolve, reject) => {
      const id = randomUUID();
      this.#requests.set(id, { resolve, reject });
      this.#socket.send(JSON.stringify({ type: "req", id, method, params }));
    });
  }

  close(): void {
    this.#socket.close();
  }

  #take(data: string): void {
    const frame = Frame.safeParse(JSON.parse(data)).data;
    if (!frame) return;
    if (frame.type === "event") {
      for (const listener of this.#listeners) listener(frame.event, frame.payload);
      return;
    }
    const request = this.#requests.get(frame.id);
    if (!request || Accepted.safeParse(frame.payload).success) return;
    this.#requests.delete(frame.id);
    if (frame.ok) request.resolve(frame.payload);
    else request.reject(new Error(frame.error?.message ?? "openclaw refused"));
  }
}
