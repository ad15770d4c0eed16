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
