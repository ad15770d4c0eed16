import type { Notification } from "../notifications/channel.ts";

/** The most bytes of a message: push services take 4,096 encrypted (RFC 8030, 7.2), and padding takes some. */
export const maximumBytes = 3_000;

/** A message to the service worker, as JSON (`dashboard/worker/push.ts`), with a shorter body if it would be too long. */
export function messageOf({ title, body, url, tag, workspaceId, items }: Notification): string {
  const text = JSON.stringify({ title, body, url, tag, workspaceId, items });
  const extra = Buffer.byteLength(text) - maximumBytes;
  if (extra <= 0) return text;
  // Each character has at least one byte.
  const kept = [...body].slice(0, -extra).join("");
  return JSON.stringify({ title, body: `${kept}…`, url, tag, workspaceId, items });
}
