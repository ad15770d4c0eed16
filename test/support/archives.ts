import { Header, type HeaderData } from "tar";
import { type PartSources, writeArchive } from "../../src/archives/write.ts";
import type { ArchivedSettings, Manifest } from "../../src/contract/archives.ts";
import { noLimits } from "../../src/contract/limits.ts";
import { allAllowed } from "../../src/contract/permissions.ts";
import type { Answer, TestClient } from "./client.ts";

// Agents' archives made by hand, to be right or wrong in every way.

/** An entry of a tar. `size` is what its header says; by default what it has. */
export interface TarEntry extends Omit<HeaderData, "type"> {
  type?: HeaderData["type"] | "ExtendedHeader" | undefined;
  content?: string | Buffer;
}

/** A tar of these entries, as they are. */
export function tarOf(entries: readonly TarEntry[]): Buffer {
  const blocks = entries.flatMap(({ content = "", type = "File", ...fields }) => {
    const bytes = Buffer.from(content);
    const block = Buffer.alloc(512);
    const data = { mode: 0o644, uid: 0, gid: 0, mtime: new Date(0), size: bytes.length, ...fields, type };
    new Header(data as HeaderData).encode(block);
    return [block, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

/** An extended header of POSIX for the entry after it. */
export function extended(records: Record<string, string>): TarEntry {
  const content = Object.entries(records).map(([key, value]) => {
    const rest = ` ${key}=${value}\n`;
    let length = Buffer.byteLength(rest) + 1;
    while (String(length).length + Buffer.byteLength(rest) !== length) length++;
    return `${length}${rest}`;
  });
  return { path: "PaxHeaders/x", type: "ExtendedHeader", content: content.join("") };
}

export const home: readonly TarEntry[] = [{ path: "./", type: "Directory", mode: 0o755 }];

const manifest: Manifest = {
  format: "berth-agent",
  version: 1,
  exportedAt: "2030-01-01T00:00:00.000Z",
  berth: "0.1.0",
  agent: "made",
  runtime: { name: "claude-code", version: null },
  machine: { image: "none", architecture: "arm64", accelerator: "kvm" },
  conversation: 1,
  counts: { turns: 0 },
  installed: { apt: [], npm: [] },
  hasDisk: false,
  leftOut: "",
};

const settings: ArchivedSettings = {
  model: null,
  instructions: null,
  effort: null,
  acp: null,
  mcpServers: {},
  agents: [],
  resources: { cpus: 2, memoryMiB: 1536, diskGiB: 10 },
  schedules: null,
  fallbackModels: [],
  autoSnapshot: 0,
  permissions: allAllowed,
  ...noLimits,
  private: false,
  retold: null,
  conversations: [],
  network: { allow: ["*"], deny: [] },
  secrets: [],
};

export interface ArchiveChanges {
  manifest?: object;
  settings?: object;
  transcript?: readonly unknown[];
  home?: readonly TarEntry[] | Buffer;
  state?: readonly TarEntry[] | Buffer;
  parts?: PartSources;
}

/** A whole archive of an agent `made`, with right checksums, and with these changes. */
export async function archiveWith(changes: ArchiveChanges = {}): Promise<Buffer> {
  const json = (value: unknown) => [Buffer.from(JSON.stringify(value))];
  const tar = (given: readonly TarEntry[] | Buffer) => [Buffer.isBuffer(given) ? given : tarOf(given)];
  const sources: PartSources = {
    "berth.json": json({ ...manifest, ...changes.manifest }),
    "settings.json": json({ ...settings, ...changes.settings }),
    "transcript.jsonl": (changes.transcript ?? []).map((line) =>
      Buffer.from(`${typeof line === "string" ? line : JSON.stringify(line)}\n`),
    ),
    "home.tar": tar(changes.home ?? home),
    "state.tar": tar(changes.state ?? []),
    ...changes.parts,
  };
  return Buffer.concat(await Array.fromAsync(writeArchive(sources, new Date(0))));
}

/** Sends an archive to be imported. */
export async function importArchive(
  client: TestClient,
  archive: Buffer | ReadableStream,
  { query = "?name=eve&wait=ready", headers = {} }: { query?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const response = await fetch(`${client.url}/imports${query}`, {
    method: "POST",
    headers: { authorization: `Bearer ${client.key}`, "content-type": "application/x-tar", ...headers },
    body: archive as Uint8Array<ArrayBuffer>,
    ...({ duplex: "half" } as object),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** A turn of a transcript. */
export const line = {
  type: "turn",
  id: "1",
  conversation: 1,
  createdAt: "2029-01-01T00:00:00.000Z",
  finishedAt: "2029-01-01T00:00:01.000Z",
  message: "hello",
  model: null,
  status: "completed",
  error: null,
  undone: false,
  usage: { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
};
