import { Readable } from "node:stream";
import type { AppContext } from "../context.ts";
import type { GuestAttachment } from "../contract/guest.ts";
import type { GuestClient } from "../contract/guest-calls.ts";
import type { Attachment } from "../contract/uploads.ts";
import { sendBytes } from "../files/transfers.ts";
import type { GuestLease } from "../lifecycle/guest-leases.ts";
import type { TurnState } from "./turn.ts";

/** The paths of a turn's images and files, in the agent's home. */
export function pathsOf(turnId: string, attachments: readonly Attachment[]): string[] {
  const taken = new Set<string>();
  for (const [index, { name }] of attachments.entries()) {
    let free = name;
    for (let number = index + 1; taken.has(free); number++) free = `${number}-${name}`;
    taken.add(free);
  }
  return [...taken].map((name) => `inbox/${turnId}/${name}`);
}

/** The message with the paths of its images and files, one a line. */
export function withPaths(message: string, paths: readonly string[]): string {
  if (paths.length === 0) return message;
  const list = ["Attached files:", ...paths].join("\n");
  return message === "" ? list : `${message}\n\n${list}`;
}

/**
 * Writes a turn's images and files to the agent's machine, and names them in its message. Repeatable, as long as the turn
 * has not begun. Throws the guest's error codes for files.
 */
export async function deliver(
  { id, agentId, keyId, personId, message, attachments }: TurnState,
  guest: GuestClient,
  lease: GuestLease,
  { stores }: AppContext,
  over: AbortSignal,
): Promise<{ message: string; attachments: GuestAttachment[] }> {
  const delivered: GuestAttachment[] = [];
  for (const [index, path] of pathsOf(id, attachments).entries()) {
    const { id: uploadId, kind, mediaType } = attachments[index]!;
    const request = { path, user: "agent", mode: null, ifMatch: null, ifNoneMatch: false } as const;
    const stream = await guest.writeFile({ ...request, acceptsDownload: true });
    const bytes = Readable.from(stores.uploads.bytes(uploadId), { objectMode: false, signal: over });
    const { path: written, size, sha256, etag } = await sendBytes(stream, bytes, lease.openDownload);
    if (etag !== null) await stores.authors.insert(agentId, "file", [etag], { keyId, personId });
    delivered.push({ kind, path: written, mediaType, size, sha256 });
  }
  return {
    message: withPaths(
      message,
      delivered.map(({ path }) => path),
    ),
    attachments: delivered,
  };
}
