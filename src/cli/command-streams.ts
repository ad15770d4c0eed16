import { type AgentHandle, ApiError } from "@berth/client";
import { withoutControls } from "./terminal.ts";

interface InputOptions {
  /** Closes the command's input after the last byte. */
  end: boolean;
  signal?: AbortSignal;
}

/** Sends standard input to a command, however long the command takes to read it. Throws the service's refusals. */
export async function sendInput(agent: AgentHandle, id: string, { end, signal }: InputOptions): Promise<void> {
  const write = async (data: Uint8Array<ArrayBuffer>, isEnd: boolean) => {
    while (!(await isAccepted(agent.commands.write(id, data, { end: isEnd, ...(signal && { signal }) }))));
  };
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) await write(new Uint8Array(chunk), false);
  if (end) await write(new Uint8Array(), true);
}

/** False if the command has not read for some seconds: the service has then accepted none of the input. */
async function isAccepted(writing: Promise<void>): Promise<boolean> {
  try {
    await writing;
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.code === "command_input_full") return false;
    throw error;
  }
}

/** Writes output unchanged; on a terminal, without control sequences. Waits for a slow reader. */
export async function printOutput(output: NodeJS.WriteStream, bytes: Uint8Array): Promise<void> {
  const shown = output.isTTY ? withoutControls(Buffer.from(bytes).toString("utf8")) : bytes;
  if (!output.write(shown)) await new Promise((resolve) => output.once("drain", resolve));
}
