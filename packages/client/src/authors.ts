import type { Author } from "./generated/types.gen.ts";

/** An author in one line: a person's name, `KEY (of PERSON)`, or `AGENT (for PERSON)`. */
export function authorText({ kind, name, person }: Author): string {
  if (kind === "person") return name ?? "a person";
  const shown = name ?? (kind === "key" ? "a key" : "an agent");
  return person === null ? shown : `${shown} (${kind === "key" ? "of" : "for"} ${person})`;
}
