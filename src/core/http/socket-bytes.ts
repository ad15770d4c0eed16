import type { Duplex } from "node:stream";
import type { RawData, WebSocket } from "ws";
import { BerthError } from "../../contract/errors.ts";

/** Send buffer of a slow client, in bytes. */
const maximumWaiting = 1024 * 1024;
const endFrame = JSON.stringify({ type: "end" });

/** Joins a WebSocket with a connection into a machine, until both directions have ended or either end is gone. */
export async function joinSocket(socket: WebSocket, connection: Duplex, gone: AbortSignal): Promise<void> {
  gone.addEventListener("abort", () => connection.destroy());
  if (gone.aborted) connection.destroy();
  socket.on("message", (data, isBinary) => toMachine(socket, connection, data, isBinary));
  connection.on("drain", () => socket.resume());
  const clientEnded = new Promise<void>((resolve) => connection.once("finish", resolve));
  try {
    for await (const chunk of connection.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      await sendBytes(socket, chunk);
    }
  } catch (error) {
    if (gone.aborted) return;
    throw new BerthError("machine_lost", "The connection to the machine broke off.", { cause: error });
  }
  socket.send(endFrame);
  const closed = new Promise((resolve) => connection.once("close", resolve));
  if (!connection.destroyed) await Promise.race([clientEnded, closed]);
}

/** Binary messages are the connection's bytes; a text message ends this direction. */
function toMachine(socket: WebSocket, connection: Duplex, data: RawData, isBinary: boolean): void {
  if (connection.writableEnded) return;
  if (!isBinary) return void connection.end();
  if (!connection.write(data as Buffer)) socket.pause();
}

/** Waits while the send buffer is full. */
async function sendBytes(socket: WebSocket, chunk: Buffer): Promise<void> {
  const sent = new Promise<void>((resolve) => socket.send(chunk, () => resolve()));
  if (socket.bufferedAmount > maximumWaiting) await sent;
}
