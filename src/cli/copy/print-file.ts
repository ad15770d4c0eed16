import type { AgentFiles } from "@berth/client";
import { CliError } from "../errors.ts";
import { copyBody } from "../response-body.ts";
import { printable } from "../terminal.ts";

/** Writes a file to standard output. */
export async function printFile(files: AgentFiles, path: string, options: { user?: "agent" | "root" }): Promise<void> {
  const { type } = await files.stat(path, options);
  if (type === "folder") throw new CliError(`This is a folder, and only a file can be printed: ${printable(path)}`);
  await copyBody(await files.read(path, options));
}
