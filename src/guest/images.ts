import { createHash } from "node:crypto";
import { constants, open } from "node:fs/promises";
import type { GuestAttachment } from "../contract/guest.ts";
import type { PromptImage } from "../runtimes/runtime.ts";

/** Anthropic's API accepts images of 5 MB in base64, and requests of 32 MB. */
const maximumImageBytes = 3_750_000;
const maximumTotalBytes = 15_000_000;

/**
 * The images of a message for the model: those that are as the server has written them, and that models accept. The agent
 * can open the others with its tools.
 */
export async function imagesOf(attachments: readonly GuestAttachment[]): Promise<PromptImage[]> {
  const images: PromptImage[] = [];
  let left = maximumTotalBytes;
  for (const { kind, path, mediaType, size, sha256 } of attachments) {
    if (kind !== "image" || size > maximumImageBytes || size > left) continue;
    const bytes = await unchanged(path, size, sha256);
    if (!bytes) continue;
    left -= size;
    images.push({ mediaType, data: bytes.toString("base64") });
  }
  return images;
}

/**
 * A file with this content; null for any other. The runner may read more than the agent: the agent must not make it read
 * another file by a link.
 */
async function unchanged(path: string, size: number, sha256: string): Promise<Buffer | null> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    const found = await file.stat();
    if (!found.isFile() || found.size !== size) return null;
    const bytes = Buffer.alloc(size);
    const { bytesRead } = await file.read(bytes, 0, size, 0);
    const hash = createHash("sha256").update(bytes).digest("hex");
    return bytesRead === size && hash === sha256 ? bytes : null;
  } catch {
    return null;
  }
}
