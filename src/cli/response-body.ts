import { once } from "node:events";
import { UnreachableError } from "@berth/client";
import { writeText } from "./terminal.ts";

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
