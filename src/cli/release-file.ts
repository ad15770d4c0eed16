import { open } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { z } from "zod";
import { CliError } from "./errors.ts";

const maximumBytes = 64 * 1024;
const timeoutMs = 10_000;

/** Six digits at most: they are compared as numbers. */
const versionForm = /^(\d{1,6})\.(\d{1,6})\.(\d{1,6})$/;
const ReleaseFile = z.object({ version: z.string().regex(versionForm) });

/**
 * The version that a release file names. `source` is an absolute path, or an address that begins with http:// or https://.
 * Throws `CliError` if there is no such file, or for contents of any other form.
 */
export async function latestVersion(source: string): Promise<string> {
  const text = await (isAbsolute(source) ? readStart(source) : fetchStart(source));
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new CliError(`${source} is not a release file: it is not JSON.`);
  }
  const { success, data } = ReleaseFile.safeParse(value);
  if (success) return data.version;
  throw new CliError(`${source} is not a release file. It must have a version such as { "version": "1.2.3" }.`);
}

/**
 * Whether `latest` is newer than `current`, which may be a pre-release (`1.2.3-beta.1`): that is older than its release.
 * https://semver.org/#spec-item-11
 */
export function isNewer(latest: string, current: string): boolean {
  const [release = ""] = current.split(/[-+]/);
  const [theirs, ours] = [latest, release].map((version) => versionForm.exec(version)?.slice(1).map(Number));
  if (!theirs || !ours) return false;
  const at = theirs.findIndex((number, index) => number !== ours[index]);
  return at === -1 ? current.startsWith(`${release}-`) : theirs[at]! > ours[at]!;
}

async function readStart(path: string): Promise<string> {
  try {
    await using file = await open(path);
    const { bytesRead, buffer } = await file.read(Buffer.alloc(maximumBytes + 1), 0, maximumBytes + 1, null);
    return requireSmall(path, buffer.subarray(0, bytesRead));
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`${path} cannot be read: ${(error as Error).message}`);
  }
}

async function fetchStart(url: string): Promise<string> {
  const chunks: Buffer[] = [];
  try {
    const response = await fetch(url, {
      signal: AbortSignal.timeout(timeoutMs),
      headers: { accept: "application/json" },
    });
    if (!response.ok) throw new CliError(`${url} returned ${response.status}.`);
    let size = 0;
    for await (const chunk of response.body ?? []) {
      chunks.push(Buffer.from(chunk));
      size += chunk.length;
      if (size > maximumBytes) break;
    }
  } catch (error) {
    if (error instanceof CliError) throw error;
    const { cause, message } = error as Error;
    throw new CliError(`${url} cannot be read: ${cause instanceof Error ? cause.message : message}`);
  }
  return requireSmall(url, Buffer.concat(chunks));
}

function requireSmall(source: string, bytes: Buffer): string {
  if (bytes.length > maximumBytes) throw new CliError(`${source} is not a release file: it has more than 64 KiB.`);
  return bytes.toString("utf8");
}
