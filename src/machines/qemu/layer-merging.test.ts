import { expect, test } from "vitest";
import { findMergeable } from "./layer-merging.ts";

test("a layer is merged where only one lies on it, and nothing begins with it", () => {
  const mergeable: [string, string[][], ReturnType<typeof findMergeable>][] = [
    ["nothing", [], null],
    ["one layer", [["a"]], null],
    ["a machine alone", [["b", "a"]], { upper: "b", lower: "a" }],
    ["a snapshot that begins with the lower one", [["b", "a"], ["a"]], null],
    ["a fork of the lower one", [["b", "a"], ["a"], ["c", "a"]], null],
    [
      "two that lie on different ones",
      [
        ["b", "a"],
        ["c", "a"],
      ],
      null,
    ],
    [
      "all have it below the same one",
      [
        ["b", "a"],
        ["b", "a"],
        ["c", "b", "a"],
      ],
      { upper: "b", lower: "a" },
    ],
    [
      "one in the middle",
      [["d", "c", "b", "a"], ["d", "c", "b", "a"], ["a"], ["c", "b", "a"]],
      { upper: "c", lower: "b" },
    ],
  ];
  for (const [what, chains, pair] of mergeable) expect([what, findMergeable(chains)]).toEqual([what, pair]);
});
