import type { Attachment, ContentPart } from "@berth/client";

/** A message that is being written or sent. Its images and files are uploads of the agent. */
export interface Draft {
  text: string;
  files: readonly Attachment[];
  /** Whether it is to reach the running turn; otherwise it waits for the turn's end. */
  steers?: boolean;
}

export const emptyDraft: Draft = { text: "", files: [] };

export function isEmpty({ text, files }: Draft): boolean {
  return text.trim() === "" && files.length === 0;
}

/** The draft as a message to the service. */
export function contentOf({ text, files }: Draft): string | ContentPart[] {
  if (files.length === 0) return text;
  const parts = files.map(({ id, kind, name }): ContentPart => ({ type: kind, fileId: id, name }));
  return text === "" ? parts : [{ type: "text", text }, ...parts];
}

/** The draft in one line: its text, or else the names of its files. */
export function lineOf({ text, files }: Draft): string {
  const names = files.map(({ name }) => name).join(", ");
  if (text === "") return names;
  return files.length === 0 ? text : `${text} (${names})`;
}
