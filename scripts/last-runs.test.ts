import { describe, expect, test } from "vitest";
import { findProblems, parseRuns, sumResults, withRun } from "./last-runs.ts";

const table = `# Last runs

| Target | Date | Commit | Result |
|---|---|---|---|
| \`test-soak\` | 2026-11-20 | abc1234 | 3 passed, 0 failed |
| \`test-long\` | 2026-11-21 | abc1235+ | 70 passed, 1 failed |
`;
const today = new Date("2026-11-27");

describe("the table of last runs", () => {
  test("has a row for each target", () => {
    expect(parseRuns(table)).toEqual([
      { target: "test-soak", date: "2026-11-20", commit: "abc1234", result: "3 passed, 0 failed" },
      { target: "test-long", date: "2026-11-21", commit: "abc1235+", result: "70 passed, 1 failed" },
    ]);
  });

  test("may be aligned", () => {
    const aligned = table.replace(
      "| `test-soak` | 2026-11-20 | abc1234 | 3 passed, 0 failed |",
      "| `test-soak`   | 2026-11-20 | abc1234  | 3 passed, 0 failed   |",
    );
    expect(aligned).not.toBe(table);
    expect(parseRuns(aligned)).toEqual(parseRuns(table));
    expect(parseRuns(withRun(aligned, { ...parseRuns(table)[0]!, commit: "def" }))).toHaveLength(2);
  });

  test("gets a new run in place of the last, and a new target as a further row", () => {
    const run = { target: "test-soak", date: "2026-11-27", commit: "def", result: "4 passed, 0 failed" };
    expect(parseRuns(withRun(table, run))).toEqual([run, parseRuns(table)[1]]);
    const further = { ...run, target: "test-other" };
    expect(parseRuns(withRun(table, further))).toEqual([...parseRuns(table), further]);
  });
});

describe("the check of last runs", () => {
  const problems = (target: string, commits: number | null = 10, at = today) =>
    findProblems(parseRuns(table), [target], at, () => commits);

  test("passes what passed lately", () => {
    expect(problems("test-soak")).toEqual([]);
    expect(problems("test-soak", 200, new Date("2026-12-20"))).toEqual([]);
  });

  test("names what failed, is too old, or has no row", () => {
    expect(problems("test-long")).toEqual(["make test-long failed when it last ran: 70 passed, 1 failed."]);
    expect(problems("test-soak", null)).toEqual([
      "make test-soak last ran at abc1234, a commit that the history lacks. Run it.",
    ]);
    expect(problems("test-other")).toEqual(["make test-other has no row. Run it."]);
    expect(problems("test-soak", 201)).toEqual(["make test-soak last ran 7 days and 201 commits ago. Run it."]);
    expect(problems("test-soak", 0, new Date("2026-12-21"))).toEqual([
      "make test-soak last ran 31 days and 0 commits ago. Run it.",
    ]);
  });
});

test("the results of several runs are added up", () => {
  expect(sumResults("1 passed, 0 failed\nother\n20 passed, 1 failed, 3 skipped\n")).toBe(
    "21 passed, 1 failed, 3 skipped",
  );
  expect(sumResults("nothing ran")).toBe("0 passed, 0 failed");
});
