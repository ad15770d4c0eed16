import type { RetoldTurn } from "../../turns/retelling.ts";

/** A message from before those that the agent answers here. */
export interface EarlierMessage {
  role: "user" | "assistant";
  text: string;
}

/** The messages as turns, for a replay: each user message with the texts after it. */
export function turnsOf(messages: readonly EarlierMessage[]): RetoldTurn[] {
  const turns: RetoldTurn[] = [];
  for (const { role, text } of messages) {
    const last = turns.at(-1);
    if (role === "user") turns.push({ message: text, reply: "" });
    else if (last) last.reply = last.reply === "" ? text : `${last.reply}\n\n${text}`;
    else turns.push({ message: "(no message)", reply: text });
  }
  return turns;
}

/** The text of a message's content; other parts are named by their type. */
export function earlierText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part: { type?: unknown; text?: unknown } | null) =>
      typeof part?.text === "string" ? part.text : `(${String(part?.type).slice(0, 100)})`,
    )
    .join("\n");
}
