import xterm from "@xterm/headless";
import { describe, expect, test } from "vitest";
import { replayOf, TerminalState } from "./terminal-state.ts";

const fresh = new TerminalState();

function replay(output: string, lastBytes: number, before = fresh): string {
  return replayOf(Buffer.from(output), lastBytes, before).toString();
}

function stateAfter(...output: string[]): TerminalState {
  const state = new TerminalState();
  for (const each of output) state.add(each);
  return state;
}

describe("a replay", () => {
  test("is the end of the output, byte for byte", () => {
    expect(replay("0123456789", 4)).toBe("6789");
    expect(replay("0123456789", 20)).toBe("0123456789");
    expect(replay("", 20)).toBe("");
  });

  test("begins with a whole character", () => {
    for (const [cut, expected] of [
      [1, "€"],
      [2, "€"],
      [3, "€"],
      [4, "a€"],
    ] as const)
      expect(replay("a€", cut)).toBe(expected);
    expect(replayOf(Buffer.from([0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86]), 2, fresh).length).toBe(5);
  });

  test.each([
    ["a colour", "\x1b[38;5;1m"],
    ["a title", "\x1b]0;a title — long\x07"],
    ["a charset", "\x1b(0"],
    ["two characters", "\x1bM"],
  ])("never begins within %s", (_, sequence) => {
    const length = Buffer.byteLength(sequence);
    for (let cut = 1; cut < length; cut++) expect(replay(`before${sequence}after`, 5 + cut)).toBe(`${sequence}after`);
    expect(replay(`before${sequence}after`, 5)).toBe("after");
  });

  test.each([
    ["a title", "\x1b]0;title\x1b\\"],
    ["an image", "\x1bPq#0;2;0;0;0\x1b\\"],
  ])("never begins within %s that ends with a sequence of its own", (_, sequence) => {
    for (let cut = 2; cut < sequence.length; cut++)
      expect(replay(`before${sequence}after`, 5 + cut)).toBe(`${sequence}after`);
    expect(replay(`before${sequence}after`, 6)).toBe("\x1b\\after");
    expect(replay(`before${sequence}after`, 5)).toBe("after");
  });

  test("leaves out the rest of a sequence that began before its output", () => {
    expect(replay("1mred", 100, stateAfter("\x1b[3"))).toBe("red");
    expect(replay("le\x07shell", 100, stateAfter("\x1b]0;tit"))).toBe("shell");
    expect(replay("data\x1b\\shell", 100, stateAfter("\x1bPq", "data".repeat(1_000)))).toBe("\x1b\\shell");
    expect(replay("more data", 100, stateAfter("\x1bPq"))).toBe("");
  });

  test("leaves out what a terminal would answer", () => {
    const queries = [
      "\x05 \x1bZ \x1b[c \x1b[0c \x1b[>c \x1b[=c \x1b[5n \x1b[6n \x1b[?6n \x1b[?996n \x1b[?2026$p \x1b[4$p \x1b[>q \x1b[>0q",
      " \x1b[?u \x1b[x \x1b[1;1;1;1;1;1*y \x1b[?2;1;0S \x1b[18t \x1b[14;2t \x1b[21t \x1b]11;?\x07 \x1b]4;1;?\x1b\\",
      " \x1b]52;c;?\x07 \x1bP$qm\x1b\\ \x1bP+q544e\x1b\\ \x1b_Gi=1,a=q;AAAA\x1b\\ \x1b_Ga=q;AAAA\x1b\\",
    ].join("");
    expect(replay(queries, 1_000).trim()).toBe("");
  });

  test("keeps sequences that look alike and have no answer", () => {
    const shown =
      "\x1b[2 q\x1b[u\x1b[s\x1b[2S\x1b[8;24;80t\x1b[22;0t\x1b]0;ready?\x07\x1b]11;#fff\x07\x1b[1;2;3;4;5$x\x1b[!p\x1b[2J";
    expect(replay(shown, 1_000)).toBe(shown);
  });

  test("is made in one pass also where a query does not end", () => {
    const unfinished = `\x1b]4;${"?".repeat(256 * 1024)}`;
    expect(replay(unfinished, 1_000_000)).toBe(unfinished);
  });

  test("is answered by no terminal", async () => {
    const screen = new xterm.Terminal({ allowProposedApi: true });
    const answers: string[] = [];
    screen.onData((data) => answers.push(data));
    const output = "$ \x1b[c\x1b[>c\x1b[6n\x1b[?6n\x1b[5n\x1b[?1$p\x1b[4$p\x1bP$qr\x1b\\\x1b]10;?\x07\x1b]4;1;?\x07";
    await new Promise<void>((resolve) => screen.write(replay(output, 1_000), resolve));
    expect(answers).toEqual([]);
  });

  test("restores the modes that were set before it", () => {
    expect(replay("\x1b[?1049h\x1b[?25l\x1b[?1;2004h\x1b=0123\x1b[?25h", 10)).toBe(
      "\x1b[?1049h\x1b[?25l\x1b[?1h\x1b[?2004h\x1b=0123\x1b[?25h",
    );
    expect(replay("\x1b[?1049hedit\x1b[?1049lshell", 5)).toBe("shell");
    expect(replay("\x1b[?2004h\x1bcnew", 3)).toBe("new");
    expect(replay("screen", 3, stateAfter("\x1b[?10", "49h"))).toBe("\x1b[?1049heen");
  });
});

test("a state remembers little of an endless sequence, and few modes", () => {
  const state = stateAfter("\x1b[", ..."1;".repeat(10_000));
  expect(state.unfinished.length).toBeLessThan(1_000);
  state.add("m");
  expect(state.unfinished).toBe("");
  for (let mode = 0; mode < 10_000; mode++) state.add(`\x1b[?${mode}h`);
  expect(state.restored.length).toBeLessThan(1_000);
});
