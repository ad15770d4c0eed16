import { once } from "node:events";
import type { Socket } from "node:net";
import { parseJson } from "./json-structure.ts";

const maximumBytes = 1024;

/**
 * Reads the next line from a socket that nothing else reads from, and parses it as JSON. The bytes after the line stay
 * in the socket's buffer, from which Node's HTTP/2 reads. Rejects when the other end disconnects, when `signal` aborts,
 * and for invalid JSON or more than 1 KiB.
 */
export async function readJsonLine(socket: Socket, signal: AbortSignal): Promise<unknown> {
  let received = Buffer.alloc(0);
  while (!received.includes(0x0a)) {
    await once(socket, "readable", { signal });
    const chunk = socket.read() as Buffer | null;
    if (chunk) received = Buffer.concat([received, chunk]);
    if (socket.readableEnded || received.length > maximumBytes) throw new Error("the other end sent no line");
  }
  const end = received.indexOf(0x0a);
  if (received.length > end + 1) socket.unshift(received.subarray(end + 1));
  return parseJson(received.subarray(0, end));
}

export function writeJsonLine(socket: Socket, content: object): void {
  socket.write(`${JSON.stringify(content)}\n`);
}
