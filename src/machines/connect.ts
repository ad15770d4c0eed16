import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { BerthError } from "../contract/errors.ts";
import type { Hello, Welcome } from "../contract/guest.ts";

/** One attempt. A booting guest does not answer at first, and anything sent to it by then is lost. */
const tryTimeoutMs = 2_000;

/** A connection whose hello the guest has accepted. */
export interface Channel {
  socket: Socket;
  hello: Hello;
}

/**
 * Dials the guest until its runner accepts the channel. Each attempt sends the next of these hellos, because the caller
 * may not know which of several tokens the guest accepts. Throws `machine_failed` after `timeoutMs`, and passes on what
 * `dial` throws for a machine that has ended.
 */
export async function connectChannel(
  dial: () => Promise<Socket>,
  hellos: readonly Hello[],
  timeoutMs: number,
): Promise<Channel> {
  const deadline = performance.now() + timeoutMs;
  for (let tries = 0; ; tries++) {
    let socket: Socket | undefined;
    try {
      socket = await dial();
      const line = hellos[tries % hellos.length]!;
      await hello(socket, line, Math.min(tryTimeoutMs, deadline - performance.now()));
      return { socket, hello: line };
    } catch (error) {
      socket?.destroy();
      if (error instanceof BerthError) throw error;
      if (performance.now() + 50 >= deadline) {
        throw new BerthError("machine_failed", `The agent's machine did not answer within ${timeoutMs / 1000} s.`, {
          cause: error,
        });
      }
      await sleep(50);
    }
  }
}

/** Identifies this connection's channel to the runner. Rejects if the runner does not accept it within `timeoutMs`. */
export async function hello(socket: Socket, line: Hello, timeoutMs: number): Promise<void> {
  socket.setNoDelay(true);
  socket.write(`${JSON.stringify(line)}\n`);
  const signal = AbortSignal.timeout(timeoutMs);
  let received = Buffer.alloc(0);
  while (!received.includes(0x0a)) {
    await once(socket, "readable", { signal });
    const chunk = socket.read() as Buffer | null;
    if (chunk) received = Buffer.concat([received, chunk]);
    if (socket.readableEnded || received.length > 1024) throw new Error("the guest ended the connection");
  }
  const end = received.indexOf(0x0a);
  const welcome = JSON.parse(received.subarray(0, end).toString("utf8")) as Welcome;
  if (!welcome.ok) throw new Error(`the guest refused the connection: ${welcome.reason}`);
  // The remaining bytes belong to HTTP/2, which Node reads from the socket's buffer.
  if (received.length > end + 1) socket.unshift(received.subarray(end + 1));
}

/** Connects to a port on this host. */
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
