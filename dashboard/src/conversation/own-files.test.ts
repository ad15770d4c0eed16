import { expect, test } from "vitest";
import { ownFiles, pathIn } from "./own-files.ts";

const pathOf = (url: string, type = "image") => {
  const node = { type, url };
  ownFiles()({ type: "root", children: [{ type: "paragraph", children: [node] }] } as never);
  return pathIn(node.url);
};

test("addresses without a scheme are paths of the agent's machine", () => {
  expect(pathOf("plot.png")).toBe("plot.png");
  expect(pathOf("./out/a%20plot.png")).toBe("out/a plot.png");
  expect(pathOf("/home/agent/plot.png")).toBe("/home/agent/plot.png");
  expect(pathOf("report.md#results", "link")).toBe("report.md");
  expect(pathOf("~/notes/a.md", "link")).toBe("notes/a.md");
  expect(pathOf("src/main.ts:12", "link")).toBe("src/main.ts");
  expect(pathOf("main.ts:12", "link")).toBe("main.ts");
  expect(pathOf("числа.csv", "link")).toBe("числа.csv");
});

test("other addresses are none", () => {
  for (const url of [
    "https://example.com/a.png",
    "//example.com/a.png",
    "data:image/png;base64,AA",
    "javascript:alert(1)",
  ])
    expect(pathOf(url), url).toBe(null);
  for (const url of ["", "#part", "../../etc/passwd", "a/../b", "%00", "%E0%A4%A", "mailto:a@b.c"])
    expect(pathOf(url)).toBe(null);
});
