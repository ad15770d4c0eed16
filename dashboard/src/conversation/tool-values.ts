/** The text of a tool's input or output: a string, the text in a wrapping that runtimes use, or else JSON. */
export function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return innerText(value) ?? JSON.stringify(value, null, 2);
}

/** The number with which a command exited, where its output has it; null: it is not known. */
export function exitCodeOf(output: unknown): number | null {
  if (typeof output !== "object" || output === null) return null;
  const { metadata, details, ...own } = output as Fields;
  const codes = [own, metadata, details].map((fields) => {
    const { exit, exitCode, exit_code } = (fields ?? {}) as Fields;
    return exit ?? exitCode ?? exit_code;
  });
  return codes.find((code) => typeof code === "number") ?? null;
}

type Fields = Record<string, unknown>;

function innerText(value: unknown): string | null {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return null;
  if (Array.isArray(value)) {
    const texts = value.map((each) => innerText((each as Fields | null)?.text ?? (each as Fields | null)?.content));
    return texts.includes(null) ? null : texts.join("\n");
  }
  const { type, text, command, output, content } = value as Fields;
  const isOnly = (...names: string[]) => Object.keys(value).every((name) => names.includes(name));
  if (type === "text" && typeof text === "string") return text;
  if (typeof command === "string") return Object.keys(value).length <= 3 ? command : null;
  if (typeof output === "string" && isOnly("output", "metadata")) return output;
  return Array.isArray(content) && isOnly("content", "details") ? innerText(content) : null;
}
