import { once } from "node:events";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { WebSocket } from "ws";
import { CliError } from "./errors.ts";

/** The limit of bytes that wait for the network before reading pauses. */
const maximumWaiting = 1024 * 1024;
/** The close code of RFC 6455 for a normal end. */
const closedNormally = 1000;

/**
 * Connects a stream to a port at `url`, a WebSocket. The directions close independently. Resolves when both have;
 * throws `CliError` with the service's reason if it refuses, or the connection breaks.
 */
export async function joinConnection(url: string, stream: Duplex): Promise<void> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  const failure = new Failure(socket);
  const closed = new Promise<number>((resolve) => socket.once("close", resolve));
  stream.on("close", () => socket.close(closedNormally));
  socket.on("message", (data: Buffer, isBinary: boolean) => {
    if (!isBinary) return failure.isIn(data) ? undefined : void stream.end();
    if (!stream.write(data)) socket.pause();
  });
  stream.on("drain", () => socket.resume());
  const opened = await Promise.race([once(socket, "open").then(() => true), closed.then(() => false)]).catch(
    () => false,
  );
  if (opened) void send(stream, socket).catch(() => socket.close());
  const code = await closed;
  if (failure.reason !== null) throw new CliError(failure.reason);
  if (!opened) throw new CliError("The connection cannot be opened.");
  if (code !== closedNormally && !stream.destroyed) throw new CliError("The connection broke.");
}

async function send(stream: Duplex, socket: WebSocket): Promise<void> {
  for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    const sent = new Promise<void>((resolve) => socket.send(chunk, () => resolve()));
    if (socket.bufferedAmount > maximumWaiting) await sent;
  }
  socket.send(JSON.stringify({ type: "end" }));
}

/** Why the service refused: in its response before the upgrade, or in a frame after it. */
class Failure {
  reason: string | null = null;

  constructor(socket: WebSocket) {
    socket.on("error", () => {});
    socket.on("unexpected-response", async (request, response) => {
      const body = await text(response).catch(() => "");
      this.reason = messageIn(body) ?? `The service responded with status ${response.statusCode}.`;
      request.destroy();
      socket.terminate();
    });
  }

  /** Whether a text frame is a failure. */
  isIn(frame: Buffer): boolean {
    const { type, message } = JSON.parse(String(frame)) as { type: string; message?: string };
    if (type === "error") this.reason = message ?? "The connection broke.";
    return type === "error";
  }
}

function messageIn(body: string): string | null {
  try {
    const { message } = JSON.parse(body) as { message?: unknown };
    return typeof message === "string" ? message : null;
  } catch {
    return null;
  }
}
