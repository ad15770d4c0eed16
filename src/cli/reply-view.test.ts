import { PassThrough } from "node:stream";
import type { TurnEvent } from "@berth/client";
import { expect, test } from "vitest";
import { ReplyView } from "./reply-view.ts";

const events: TurnEvent[] = [
  { type: "response.output_text.delta", delta: "I look.\x1b[2J" },
  { type: "response.tool_call.started", id: "1", name: "Bash" },
  { type: "response.tool_call.updated", id: "1", title: "ls\x1b]0;x\x07\n-l" },
  { type: "response.tool_call.completed", id: "1", title: "ls\x1b]0;x\x07\n-l", status: "failed" },
  { type: "response.output_text.delta", delta: "Done." },
  { type: "response.completed" },
];

/** The text of each output after the events. */
function show({ reply, notes }: { reply: boolean; notes: boolean }): string[] {
  const [out, err] = [new PassThrough(), new PassThrough()];
  const view = new ReplyView(Object.assign(out, { isTTY: reply }), Object.assign(err, { isTTY: notes }));
  for (const event of events) view.show(event);
  view.endLine();
  return [String(out.read() ?? ""), String(err.read() ?? "")];
}

test("in a pipe there is the reply's text as it came and a line feed at its end, and nothing else", () => {
  expect(show({ reply: false, notes: false })).toEqual(["I look.\x1b[2JDone.\n", ""]);
});

test("on a terminal tool calls have dim lines of their own, and nothing acts on it", () => {
  const [reply, notes] = show({ reply: true, notes: true });
  expect(reply).toBe("I look.[2J\nDone.\n");
  const title = "ls\u{fffd}]0;x\u{fffd} -l";
  expect(notes).toBe([`· Bash`, `· ${title}`, `✘ ${title}`].map((line) => `\x1b[2m${line}\x1b[22m\n`).join(""));
});

test("a reply in a pipe is not broken by tool calls on the terminal", () => {
  expect(show({ reply: false, notes: true })[0]).toBe("I look.\x1b[2JDone.\n");
});

test("what a turn has used has a dim line below the reply, with the parts of it that have a name", () => {
  const [out, err] = [new PassThrough(), Object.assign(new PassThrough(), { isTTY: true })];
  const view = new ReplyView(Object.assign(out, { isTTY: true }), err);
  view.show({ type: "response.output_text.delta", delta: "Done." });
  const usage = { inputTokens: 10, outputTokens: 7, cacheReadTokens: 0, cacheWriteTokens: 9, reasoningTokens: 3 };
  view.show({
    type: "response.cancelled",
    usage: { ...usage, contextTokens: 13, contextLimit: 200_000, credits: null },
  });
  view.endLine();
  expect(String(out.read())).toBe("Done.\n");
  const line = "tokens: 10 in (9 to the cache), 7 out (3 reasoning); context: 13 of 200,000; credits: unknown";
  expect(String(err.read())).toBe(`\x1b[2m${line}\x1b[22m\n`);
});

test("a plan is a dim line on a terminal", () => {
  const [out, err] = [new PassThrough(), Object.assign(new PassThrough(), { isTTY: true })];
  const view = new ReplyView(Object.assign(out, { isTTY: true }), err);
  const steps = [
    { text: "Read", status: "completed" },
    { text: "Test\x1b[2J", status: "in_progress" },
  ] as const;
  view.show({ type: "response.plan.updated", steps: [...steps] });
  view.show({ type: "response.plan.updated", steps: [] });
  expect(String(err.read())).toBe("\x1b[2mPlan: 1 of 2 done. Test\ufffd[2J\x1b[22m\n");
});

test("a message that reached the turn has its author on a terminal", () => {
  const [out, err] = [new PassThrough(), Object.assign(new PassThrough(), { isTTY: true })];
  const view = new ReplyView(Object.assign(out, { isTTY: true }), err);
  const id = "00000000-0000-4000-8000-000000000000";
  const createdBy = { kind: "key" as const, id, name: "ci\x1b[2J", person: "Ada" };
  for (const each of [createdBy, null])
    view.show({ type: "response.steered", id, message: "only the unit tests", createdBy: each });
  const lines = ["> ci\u{fffd}[2J (of Ada): only the unit tests", "> only the unit tests"];
  expect(String(err.read())).toBe(lines.map((line) => `\x1b[2m${line}\x1b[22m\n`).join(""));
});
