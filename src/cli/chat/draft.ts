import type { ContentPart } from "@berth/client";
import type { AttachedFile } from "../attached-files.ts";

/** A message that is not sent yet. */
export interface Draft {
  text: string;
  files: AttachedFile[];
}

/** The draft as a message to the service. */
export function contentOf({ text, files }: Draft): string | ContentPart[] {
  return files.length === 0 ? text : [{ type: "text", text }, ...files.map(({ part }) => part)];
}

/** The text of a message for the screen, with the names of its files. */
export function draftText({ text, files }: { text: string; files: readonly { name: string }[] }): string {
  return [text, ...files.map(({ name }) => `[${name}]`)].filter((part) => part !== "").join("\n");
}
