import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { latestSession } from "../runtimes/runtime.ts";
import { Sessions, sessionsFile } from "./sessions.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-sessions-"));
});
afterEach(() => rm(folder, { recursive: true }));

test("each conversation has its session, also after a restart", async () => {
  const sessions = new Sessions(folder);
  await sessions.enter(1, "opencode", "one");
  await sessions.enter(2, "opencode", "two");
  for (const each of [sessions, new Sessions(folder)]) {
    expect(await each.current()).toBe(2);
    expect(await each.find(1, "opencode")).toBe("one");
    expect(await each.find(3, "opencode")).toBeNull();
    expect(await each.forStart("opencode")).toBe("two");
  }
});

test("another runtime gets a session of its own in a conversation", async () => {
  const sessions = new Sessions(folder);
  await sessions.enter(1, "opencode", "one");
  expect(await sessions.find(1, "openclaw")).toBeNull();
  expect(await sessions.forStart("openclaw")).toBeNull();
  await sessions.enter(1, "openclaw", "2");
  expect(await sessions.find(1, "openclaw")).toBe("2");
  expect(await sessions.find(1, "opencode")).toBeNull();
});

test("a disk without the file has the number of an earlier version, and its runtime's latest session", async () => {
  expect(await new Sessions(folder).current()).toBe(1);
  await writeFile(join(folder, "conversation"), "7");
  const sessions = new Sessions(folder);
  expect(await sessions.current()).toBe(7);
  expect(await sessions.forStart("claude-code")).toBe(latestSession);
  await sessions.enter(7, "claude-code", "seven");
  expect(await sessions.forStart("claude-code")).toBe("seven");
});

test("of too many sessions, those that were entered longest ago are dropped", async () => {
  const sessions = new Sessions(folder);
  for (let number = 1; number <= 2_000; number++) await sessions.enter(number, "opencode", `session ${number}`);
  await sessions.enter(1, "opencode", "session 1");
  await sessions.enter(2_001, "opencode", "session 2001");
  expect(await sessions.find(1, "opencode")).toBe("session 1");
  expect(await sessions.find(2, "opencode")).toBe(null);
  expect(await sessions.find(3, "opencode")).toBe("session 3");
  expect(JSON.parse(await readFile(join(folder, sessionsFile), "utf8")).sessions).toHaveLength(2_000);
});

test("a file that was replaced is read again", async () => {
  const sessions = new Sessions(folder);
  await sessions.enter(1, "opencode", "one");
  await writeFile(join(folder, sessionsFile), JSON.stringify({ current: 4, sessions: [[4, "opencode", "four"]] }));
  sessions.forget();
  expect(await sessions.current()).toBe(4);
  expect(await sessions.forStart("opencode")).toBe("four");
});
