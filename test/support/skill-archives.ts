import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { type Header, pack } from "tar-stream";
import type { Answer, TestClient } from "./client.ts";

/** A file's text, or an entry of a tar with any header. */
export type SkillEntries = Readonly<Record<string, string | Buffer | (Partial<Header> & { text?: string })>>;

/** A SKILL.md with these lines of front matter. */
export function skillText(name: string, ...lines: string[]): string {
  return ["---", `name: ${name}`, ...lines, "---", "", `# How to ${name}`, ""].join("\n");
}

export const described = "description: Explains how. Use it when asked.";

/** A tar of these entries, by their names. */
export function tarOf(entries: SkillEntries): Promise<Buffer> {
  const archive = pack();
  for (const [name, entry] of Object.entries(entries)) {
    if (typeof entry === "string" || Buffer.isBuffer(entry)) archive.entry({ name }, entry);
    else {
      const { text, ...header } = entry;
      if (header.type && header.type !== "file") archive.entry({ name, ...header }, () => {});
      else archive.entry({ name, ...header }, text ?? "");
    }
  }
  archive.finalize();
  return buffer(archive);
}

/** Uploads a skill of these entries, as a tar.gz. `query` begins with a question mark. */
export async function putSkill(
  client: TestClient,
  name: string,
  entries: SkillEntries = { "SKILL.md": skillText(name, described) },
  query = "",
): Promise<Answer> {
  return putArchive(client, name, gzipSync(await tarOf(entries)), query);
}

export async function putArchive(client: TestClient, name: string, archive: Buffer, query = ""): Promise<Answer> {
  const response = await fetch(`${client.url}/skills/${name}/archive${query}`, {
    method: "PUT",
    headers: {
      authorization: `Bearer ${client.key}`,
      "content-type": "application/octet-stream",
      ...(client.workspace === null ? {} : { "berth-workspace": encodeURIComponent(client.workspace) }),
    },
    body: archive as Uint8Array<ArrayBuffer>,
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}
