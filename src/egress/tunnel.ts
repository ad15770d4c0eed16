import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { EgressOutcome } from "../contract/egress.ts";

/** One address after the other has so long to answer before the next is tried beside it. */
const attemptMs = 1_000;

/**
 * Connects with a port of one of these addresses, which were checked: nothing is looked up here. Rejects with `Unconnected`.
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
      signal: gone,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: attemptMs,
      lookup: (_host, _options, answer) => answer(null, found),
    });
    const late = setTimeout(() => socket.destroy(new Unconnected("timeout")), timeoutMs);
    socket.on("error", () => {}); // Once it is connected, its errors are of the one who carries on.
    socket.once("connect", () => {
      clearTimeout(late);
      resolve(socket);
    });
    socket.once("error", (error) => {
      clearTimeout(late);
      reject(error instanceof Unconnected ? error : new Unconnected("unreachable", { cause: error }));
    });
  });
}

/** Nothing answered at the destination. */
export class Unconnected extends Error {
  readonly outcome: "unreachable" | "timeout";

  constructor(outcome: "unreachable" | "timeout", options?: ErrorOptions) {
    super(`The destination is not there: ${outcome}.`, options);
    this.outcome = outcome;
  }
}

/** How a tunnel is carried on. */
export interface Carriage {
  /** A tunnel in which nothing moves for so long is ended. */
  idleMs: number;
  /** Aborted when it is not allowed any more. */
  cut: AbortSignal;
  /** Bytes have moved, either way. */
  moved: () => void;
}

/**
 * Carries bytes between a tunnel's end and what it leads to, both ways, each as fast as the other end takes them and to its
 * own end. Resolves when both ways have ended.
 */
export async function carry(tunnel: Duplex, end: Duplex, { idleMs, cut, moved }: Carriage): Promise<EgressOutcome> {
  let idle = false;
  const timer = setTimeout(() => {
    idle = true;
    end.destroy();
  }, idleMs);
  const seen = () => {
    timer.refresh();
    moved();
  };
  end.on("data", seen);
  tunnel.on("data", seen);
  const ways = await Promise.allSettled([
    pipeline(tunnel, end, { signal: cut }),
    pipeline(end, tunnel, { signal: cut }),
  ]);
  clearTimeout(timer);
  if (cut.aborted) return "cut";
  if (idle) return "idle";
  return ways.every(({ status }) => status === "fulfilled") ? "closed" : "reset";
}
