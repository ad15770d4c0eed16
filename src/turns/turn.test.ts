import { expect, test } from "vitest";
import { summaryCharacters } from "../contract/chat.ts";
import { type RecentTurn, toTurnSummary } from "./turn.ts";

test("a summary is cut between characters", () => {
  const longer = (characters: number) => `${"a".repeat(characters - 1)}😀`;
  const turn: RecentTurn = {
    id: "1",
    agent: "ada",
    message: longer(summaryCharacters.message),
    reply: longer(summaryCharacters.reply),
    status: "completed",
    waiting: false,
    error: null,
    createdBy: null,
    createdAt: new Date(),
    finishedAt: null,
  };
  const { message, reply } = toTurnSummary(turn);
  expect([message.isWellFormed(), reply.isWellFormed()]).toEqual([true, true]);
});
