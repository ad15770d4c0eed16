import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";

/**
 * What openclaw's gateway sends over its WebSocket: an event, or the answer to a request. `agent` is answered twice,
 * first as `accepted`, and once more when the run has ended.
 * https://docs.openclaw.ai/gateway/protocol/transport
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

/** The version of its protocol that openclaw 2026.9 speaks. */
const protocol = 4;

/** Between two tries to connect, while openclaw starts. */
const retryMs = 1_000;

interface Request {
  resolve: (payload: unknown) => void;
  reject: (error: Error) => void;
}

/** A connection to the gateway of an openclaw on this machine. */
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
    socket.addEventListener("error", () => {}); // The close that follows says it.
  }

  /** Connects as soon as openclaw lets it; rejects when `signal` aborts, with its reason. */
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
   * The gateway greets with a challenge, which is for clients with a key of their own. One on its machine that has
   * the token and says that it is a back end needs none, and gets all the rights that it asks for.
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
      // Without it, what a run does with its tools is not told.
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

  /** Calls `listener` with each event until the answered function is called. */
  subscribe(listener: (event: string, payload: unknown) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Asks for something and answers what came of it in the end; rejects with openclaw's own words. */
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
