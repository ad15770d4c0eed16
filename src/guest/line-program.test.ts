import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { LineProgram } from "./line-program.ts";

/** Answers each line with the line and its process id, and exits at the line `end`. */
const script = 'while read line; do [ "$line" = end ] && exit; echo "$line $$"; done';

test("each line has its answer; a program that has ended is started again", async () => {
  const program = new LineProgram("sh", ["-c", script]);
  const [first, second] = await Promise.all([program.ask("one"), program.ask("two")]);
  const [word, pid] = first!.split(" ");
  expect([word, second]).toEqual(["one", `two ${pid}`]);
  expect(await program.ask("end")).toBe(null);
  const third = await program.ask("three");
  expect(third).toMatch(/^three \d+$/);
  // Killed from outside while idle.
  const last = Number(third!.split(" ")[1]);
  process.kill(last, "SIGKILL");
  await expect.poll(() => existsSync(`/proc/${last}`)).toBe(false);
  expect(await program.ask("four")).toMatch(/^four \d+$/);
  expect(await program.ask("end")).toBe(null);
});

test("a program that is not there answers null", async () => {
  const program = new LineProgram("/nonexistent/program");
  expect(await program.ask("one")).toBe(null);
  expect(await program.ask("two")).toBe(null);
});
