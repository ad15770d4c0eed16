import { type ContentBlock, RequestError } from "@agentclientprotocol/sdk";

/**
 * A prompt's blocks as the text of a message. Files that the editor attaches are included as text. Throws for content
 * that a message cannot contain.
 */
export function textOfPrompt(blocks: readonly ContentBlock[]): string {
  const text = blocks.map(textOf).join("\n\n").trim();
  if (text === "") throw RequestError.invalidParams(undefined, "The prompt has no text.");
  return text;
}

function textOf(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "resource_link":
      return `[${block.title ?? block.name}](${block.uri})`;
    case "resource":
      if ("text" in block.resource) return `${block.resource.uri}:\n\n${fenced(block.resource.text)}`;
      throw unsupported("A file that is not text");
    default:
      throw unsupported(block.type === "image" ? "An image" : block.type === "audio" ? "Sound" : "This part");
  }
}

/** Between fences longer than any in the text. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

function unsupported(what: string): RequestError {
  return RequestError.invalidParams(undefined, `${what} cannot be sent to a hosted agent; text can.`);
}
