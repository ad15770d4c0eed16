import { connect, type Socket } from "node:net";
import type { Duplex, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { EgressOutcome } from "../contract/egress.ts";

/** How long one address may take before the next is tried in parallel. */
const attemptMs = 1_000;

/**
 * Connects to a port of one of these addresses. The caller has checked them, so no name is looked up. Rejects with
 * `Unconnected`, also when `gone` aborts first.
 */
export function dial(
  addresses: readonly string[],
  port: number,
  timeoutMs: number,
  gone: AbortSignal,
): Promise<Socket> {
  const found = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  return new Promise((resolve, reject) => {
    const socket = connect({
      port,
      host: "checked",
      allowHalfOpen: true,
      noDelay: true,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: attemptMs,
      lookup: (_host, _options, answer) => answer(null, found),
    });
    const late = setTimeout(() => socket.destroy(new Unconnected("timeout")), timeoutMs);
    // Only until it is connected: after a clean end of the tunnel, the connection ends cleanly too.
    const left = () => socket.destroy(new Error("the machine has disconnected"));
    if (gone.aborted) left();
    gone.addEventListener("abort", left);
    const decided = () => {
      clearTimeout(late);
      gone.removeEventListener("abort", left);
    };
    socket.on("error", () => {}); // Once connected, errors are handled by the caller.
    socket.once("connect", () => {
      decided();
      resolve(socket);
    });
    socket.once("error", (error) => {
      decided();
      reject(error instanceof Unconnected ? error : new Unconnected("unreachable", { cause: error }));
    });
  });
}

/** The destination did not respond. */
export class Unconnected extends Error {
  readonly outcome: "unreachable" | "timeout";

  constructor(outcome: "unreachable" | "timeout", options?: ErrorOptions) {
    super(`The destination is unreachable: ${outcome}.`, options);
    this.outcome = outcome;
  }
}

export interface Carriage {
  /** End the tunnel after this many milliseconds without traffic. */
  idleMs: number;
  /** Aborted when the tunnel is no longer allowed. */
  cut: AbortSignal;
  /** Bytes have moved, in either direction. */
  moved: () => void;
  /** The sink of the destination's bytes, by default the tunnel. */
  into?: Writable;
}

/**
 * Forwards bytes in both directions between a tunnel and its destination, with backpressure. The directions end
 * independently. Resolves when both have ended.
 */
export async function carry(
  tunnel: Duplex,
  end: Duplex,
  { idleMs, cut, moved, into = tunnel }: Carriage,
): Promise<EgressOutcome> {
  let idle = false;
  const timer = setTimeout(() => {
    idle = true;
    end.destroy();
    into.destroy();
  }, idleMs);
  const seen = () => {
    timer.refresh();
    moved();
  };
  end.on("data", seen);
  tunnel.on("data", seen);
  const ways = await Promise.allSettled([pipeline(tunnel, end, { signal: cut }), pipeline(end, into, { signal: cut })]);
  clearTimeout(timer);
  if (cut.aborted) return "cut";
  if (idle) return "idle";
  return ways.every(({ status }) => status === "fulfilled") ? "closed" : "reset";
}
