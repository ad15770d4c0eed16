import { expect, test } from "vitest";
import { cheapestMerge, findMergeable } from "./layer-merging.ts";
import { manyLayers } from "./layers.ts";

test("a layer is merged where only one lies on it, and nothing begins with it", () => {
  const mergeable: [string, string[][], ReturnType<typeof findMergeable>][] = [
    ["nothing", [], []],
    ["one layer", [["a"]], []],
    ["a machine alone", [["b", "a"]], [{ upper: "b", lower: "a" }]],
    ["a snapshot that begins with the lower one", [["b", "a"], ["a"]], []],
    ["a fork of the lower one", [["b", "a"], ["a"], ["c", "a"]], []],
    [
      "two that lie on different ones",
      [
        ["b", "a"],
        ["c", "a"],
      ],
      [],
    ],
    [
      "all have it below the same one",
      [
        ["b", "a"],
        ["b", "a"],
        ["c", "b", "a"],
      ],
      [{ upper: "b", lower: "a" }],
    ],
    [
      "one in the middle",
      [["d", "c", "b", "a"], ["d", "c", "b", "a"], ["a"], ["c", "b", "a"]],
      [{ upper: "c", lower: "b" }],
    ],
  ];
  for (const [what, chains, pairs] of mergeable) expect([what, findMergeable(chains)]).toEqual([what, pairs]);
});

test("small layers are merged first, and large ones only onto comparable ones or where a disk has many", () => {
  const MiB = 1024 ** 2;
  const sizes = new Map([
    ["base", 2_000 * MiB],
    ["x", 40 * MiB],
    ["y", 50 * MiB],
    ["z", 1 * MiB],
    ["big", 600 * MiB],
  ]);
  expect(cheapestMerge([["z", "base"]], sizes)).toBeNull();
  expect(cheapestMerge([["big", "base"]], sizes)).toEqual({ upper: "big", lower: "base" });
  expect(cheapestMerge([["z", "y", "x", "base"]], sizes)).toEqual({ upper: "y", lower: "x" });
  expect(cheapestMerge([["y", "z", "base"]], sizes)).toEqual({ upper: "y", lower: "z" });
  const many = [...Array.from({ length: manyLayers - 2 }, (_, at) => `layer-${at}`), "z", "base"];
  const snapshots = many.slice(0, -1).map((_, at) => many.slice(at));
  expect(cheapestMerge([many, ...snapshots], sizes)).toEqual({ upper: "z", lower: "base" });
});
