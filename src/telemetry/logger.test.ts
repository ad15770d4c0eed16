import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { withoutControls } from "./logger.ts";

test("a log's texts cannot steer a terminal", () => {
  const text = (value: string) => JSON.parse(withoutControls(JSON.stringify({ value }))).value;
  expect(text("\u001b[2J gone \u009b1m\u0007\u007f")).toBe("\ufffd[2J gone \ufffd1m\ufffd\ufffd");
  expect(text("a\ttab,\na line, a back\\slash and \\u001b as text")).toBe(
    "a\ttab,\na line, a back\\slash and \\u001b as text",
  );
});

test.each([
  ["text", /^\[\d\d:\d\d:\d\d\] INFO: turn begun \{"turnId":"7"\}\n$/],
  ["json", /^\{"level":30,.*"turnId":"7","msg":"turn begun"\}\n$/],
])("an entry of the log is one line of %s", async (logFormat, line) => {
  const program = `import { openLogger } from "${new URL("logger.ts", import.meta.url)}";
openLogger({ logLevel: "info", logFormat: "${logFormat}" }).info({ turnId: "7" }, "turn begun");`;
  const { stderr } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program]);
  expect(stderr).toMatch(line);
});

test("an entry about an invalid value names few of its issues", async () => {
  const program = `import { z } from "zod";
import { openLogger } from "${new URL("logger.ts", import.meta.url)}";
const { error } = z.array(z.string()).safeParse(Array(5_000).fill(0));
const logger = openLogger({ logLevel: "info", logFormat: "json" });
logger.info({ err: error }, "plain");
logger.info({ err: new Error("outer", { cause: error }), cause: error }, "as a cause");`;
  const { stderr } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], {
    cwd: import.meta.dirname,
  });
  const [plain, asCause] = stderr.trim().split("\n");
  expect(plain).toContain("expected string, received number");
  expect(asCause).toMatch(/outer: .*expected string, received number/);
  expect(stderr.length).toBeLessThan(20_000);
});
