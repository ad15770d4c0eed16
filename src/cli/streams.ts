import { once } from "node:events";
import { Transform } from "node:stream";
import { text } from "node:stream/consumers";
import { type AgentHandle, ApiError, UnreachableError } from "@berth/client";
import { withoutControls, writeText } from "./terminal.ts";

/** An argument's text: `-` reads all of standard input, anything else is literal. */
export async function textOf(argument: string): Promise<string> {
  return argument === "-" ? text(process.stdin) : argument;
}

/** Forwards bytes and reports their number so far. */
export function counted(seen: (bytes: number) => void): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      seen(bytes);
      done(null, chunk);
    },
  });
}

/**
 * Copies a response body to stdout: byte for byte in a pipe, with control characters removed on a terminal. Throws
 * `UnreachableError`.
 */
export async function copyBody(response: Response): Promise<void> {
  const { stdout } = process;
  const decoder = new TextDecoder();
  let last = "\n";
  try {
    for await (const bytes of response.body ?? []) {
      if (!stdout.isTTY) {
        if (!stdout.write(bytes)) await Promise.race([once(stdout, "drain"), once(stdout, "close")]);
        continue;
      }
      const decoded = decoder.decode(bytes, { stream: true });
      writeText(stdout, decoded);
      last = decoded.at(-1) ?? last;
    }
  } catch {
    throw new UnreachableError("The connection broke before the end of the response.");
  }
  if (stdout.isTTY && last !== "\n") stdout.write("\n");
}

/** Writes a command's output unchanged; on a terminal, without control sequences. Waits for a slow reader. */
export async function printOutput(output: NodeJS.WriteStream, bytes: Uint8Array): Promise<void> {
  const shown = output.isTTY ? withoutControls(Buffer.from(bytes).toString("utf8")) : bytes;
  if (!output.write(shown)) await new Promise((resolve) => output.once("drain", resolve));
}

/** Sends standard input to a command, however long the command takes to read it. `end` closes its input afterwards. */
export async function sendInput(
  { commands }: AgentHandle,
  id: string,
  { end, signal }: { end: boolean; signal?: AbortSignal },
): Promise<void> {
  const write = async (data: Uint8Array<ArrayBuffer>, isEnd: boolean): Promise<void> => {
    try {
      await commands.write(id, data, { end: isEnd, ...(signal && { signal }) });
    } catch (error) {
      // The command has not read for some seconds. The service has accepted none of the input.
      if (error instanceof ApiError && error.code === "command_input_full") return write(data, isEnd);
      throw error;
    }
  };
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) await write(new Uint8Array(chunk), false);
  if (end) await write(new Uint8Array(), true);
}
