import { type ContentBlock, RequestError } from "@agentclientprotocol/sdk";
import type { AgentHandle, ContentPart } from "@berth/client";

/**
 * A prompt's blocks as a message. Texts and files of texts become its text; images and other files are uploaded. Throws for
 * content that a message cannot have.
 */
export async function contentOfPrompt(
  agent: AgentHandle,
  blocks: readonly ContentBlock[],
): Promise<string | ContentPart[]> {
  const text = blocks
    .flatMap((block) => textOf(block) ?? [])
    .join("\n\n")
    .trim();
  const files: ContentPart[] = [];
  for (const block of blocks) {
    const file = fileOf(block);
    if (!file) continue;
    const { type, name, mediaType, data } = file;
    const bytes = new Uint8Array(Buffer.from(data, "base64"));
    const { id } = await agent.uploads.create(bytes, { name, ...(mediaType ? { mediaType } : {}) });
    files.push({ type, fileId: id });
  }
  if (files.length > 0) return text === "" ? files : [{ type: "text", text }, ...files];
  if (text === "") throw RequestError.invalidParams(undefined, "The prompt has no text, image or file.");
  return text;
}

/** The text of a block; null if it is an image or a file. */
function textOf(block: ContentBlock): string | null {
  switch (block.type) {
    case "text":
      return block.text;
    case "resource_link":
      return `[${block.title ?? block.name}](${block.uri})`;
    case "resource":
      return "text" in block.resource ? `${block.resource.uri}:\n\n${fenced(block.resource.text)}` : null;
    case "image":
      return null;
    default:
      throw RequestError.invalidParams(
        undefined,
        "Sound cannot be sent to a hosted agent; text, images and files can.",
      );
  }
}

interface BlockFile {
  type: "image" | "file";
  name: string;
  mediaType: string | null;
  /** In base64. */
  data: string;
}

function fileOf(block: ContentBlock): BlockFile | null {
  if (block.type === "image") {
    const { data, mimeType, uri } = block;
    const name = nameIn(uri ?? "") ?? `image.${mimeType.split("/")[1] ?? "png"}`;
    return { type: "image", name, mediaType: mimeType, data };
  }
  if (block.type !== "resource" || !("blob" in block.resource)) return null;
  const { blob, mimeType = null, uri } = block.resource;
  return { type: "file", name: nameIn(uri) ?? "file.bin", mediaType: mimeType, data: blob };
}

/** The last part of an address's path; null if it has none. */
function nameIn(uri: string): string | null {
  const last = uri.split(/[?#]/)[0]!.split("/").at(-1)!;
  try {
    return decodeURIComponent(last) || null;
  } catch {
    return last;
  }
}

/** Between fences longer than any in the text. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
