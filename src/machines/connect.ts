import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { BerthError } from "../contract/errors.ts";
import type { Hello } from "../contract/guest.ts";
import { hello } from "./channel.ts";

/** One try; a guest that boots does not answer at first, and what was sent to it then is lost. */
const tryTimeoutMs = 2_000;

/**
 * Dials the guest again and again until its runner takes the channel. Throws `machine_failed` after `timeoutMs`.
 */
export async function connectChannel(dial: () => Promise<Socket>, line: Hello, timeoutMs: number): Promise<Socket> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    let socket: Socket | undefined;
    try {
      socket = await dial();
      await hello(socket, line, Math.min(tryTimeoutMs, deadline - Date.now()));
      return socket;
    } catch (error) {
      socket?.destroy();
      if (Date.now() + 50 >= deadline) {
        throw new BerthError("machine_failed", `The agent's machine did not answer within ${timeoutMs / 1000} s.`, {
          cause: error,
        });
      }
      await sleep(50);
    }
  }
}

/** A connection to a port of this host. */
export async function dialPort(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}
