import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { type Commands, resultOf } from "../../commands/commands.ts";
import { BerthError } from "../../contract/errors.ts";
import {
  CommandOutcome,
  FileContent,
  FilePage,
  FileWritten,
  ListFilesArguments,
  maximumShownOutput,
  ReadFileArguments,
  RunCommandArguments,
  WriteFileArguments,
} from "../../contract/mcp.ts";
import { routes } from "../../contract/routes.ts";
import type { Files } from "../../files/files.ts";
import { type Tool, tool } from "./tool.ts";

/** Tools that run commands in an agent's machine. */
export function commandTools(commands: Commands): Tool[] {
  const run = tool({
    name: "run_command",
    title: "Run a command",
    description:
      "Runs a shell command line, or a program with its arguments, in an agent's machine as the agent's user, and waits for it to exit. Returns the first and the last 16,384 characters of each output stream.",
    route: routes.runCommand,
    input: RunCommandArguments,
    output: CommandOutcome,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    run: async ({ agent: name, ...asked }, { operation, caller, gone }) => {
      const agent = await operation.findAgent(name);
      const id = randomUUID();
      await commands.start(id, agent, { ...asked, openStdin: false, user: "agent", detach: false }, caller);
      await operation.begun();
      const result = await resultOf(id, commands.events(agent.id, id, { after: 0, keepAwake: true }, gone));
      if (!result) throw new BerthError("machine_failed", "The command's output broke off.");
      const { exitCode, signal, timedOut, lost, truncated } = result;
      const [stdout, stderr] = [shown(result.stdout), shown(result.stderr)];
      const isCut = truncated || stdout !== result.stdout || stderr !== result.stderr;
      return { result: { exitCode, signal, timedOut, lost, stdout, stderr, truncated: isCut } };
    },
  });
  return [run];
}

/** The text, or its beginning and end. */
function shown(text: string): string {
  if (text.length <= maximumShownOutput) return text;
  const half = maximumShownOutput / 2;
  const left = text.length - 2 * half;
  return `${text.slice(0, half)}\n… ${left} characters left out …\n${text.slice(-half)}`.toWellFormed();
}

/** The tools have the rights of this user in the machine. */
const user = "agent";

/** Tools that read and write files in an agent's machine. */
export function fileTools(files: Files): Tool[] {
  return [readFile(files), writeFile(files), listFiles(files)];
}

function readFile(files: Files): Tool {
  return tool({
    name: "read_file",
    title: "Read a file",
    description: "Reads a file in an agent's machine, or a part of it.",
    route: routes.readFile,
    input: ReadFileArguments,
    output: FileContent,
    annotations: { readOnlyHint: true, openWorldHint: false },
    run: async ({ agent: name, path, offset, length }, { operation, caller }) => {
      const agent = await operation.findAgent(name);
      const { entry, etag } = await files.stat(agent, caller, { path, user });
      if (entry.type !== "file")
        throw new BerthError(
          "file_not_regular",
          `This is a ${entry.type}, not a regular file; list_files lists folders.`,
        );
      const wanted = Math.max(0, Math.min(length, entry.size - offset));
      const part = { path, user, start: Math.min(offset, entry.size), length: wanted, etag } as const;
      const bytes = await buffer(await files.read(agent, "admitted", part));
      const content = contentOf(bytes);
      const next = offset + content.taken;
      const { taken: _, ...shownAs } = content;
      const nextOffset = next < entry.size ? next : null;
      return { result: { path: entry.path, size: entry.size, ...shownAs, nextOffset, etag } };
    },
  });
}

function writeFile(files: Files): Tool {
  return tool({
    name: "write_file",
    title: "Write a file",
    description: "Writes a complete file in an agent's machine. Creates missing folders and replaces an existing file.",
    route: routes.writeFile,
    input: WriteFileArguments,
    output: FileWritten,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    run: async ({ agent: name, path, text, base64, ifMatch }, { operation, caller }) => {
      const agent = await operation.findAgent(name);
      const bytes = base64 === undefined ? Buffer.from(text ?? "") : Buffer.from(base64, "base64");
      const condition = { ifMatch: ifMatch === undefined ? null : [ifMatch], ifNoneMatch: false };
      const request = { path, user, mode: null, ...condition } as const;
      const { path: at, size, created, etag } = await files.write(agent, caller, request, Readable.from([bytes]));
      return { result: { path: at, size, created, etag } };
    },
  });
}

function listFiles(files: Files): Tool {
  return tool({
    name: "list_files",
    title: "List files",
    description: "Lists a folder in an agent's machine.",
    route: routes.readFile,
    input: ListFilesArguments,
    output: FilePage,
    annotations: { readOnlyHint: true, openWorldHint: false },
    run: async ({ agent: name, path, depth, limit, cursor = null }, { operation, caller }) => {
      const agent = await operation.findAgent(name);
      const page = await files.list(agent, caller, { path, user, limit, depth, after: cursor });
      const entries = page.data.map(({ etag: _, ...entry }) => entry);
      return { result: { entries, nextCursor: page.nextCursor } };
    },
  });
}

/** Bytes as text if they are UTF-8, without a character that the part cuts in two. */
function contentOf(bytes: Buffer): { text?: string; base64?: string; taken: number } {
  for (let cut = 0; cut <= Math.min(3, bytes.length); cut++) {
    const whole = bytes.subarray(0, bytes.length - cut);
    try {
      const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(whole);
      if (!text.includes("\0") && (whole.length > 0 || bytes.length === 0)) return { text, taken: whole.length };
    } catch {}
  }
  return { base64: bytes.toString("base64"), taken: bytes.length };
}
