import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { hasIds } from "./machine-users.ts";

const run = promisify(execFile);

test("a range of ids must lie in one line of the namespace's map", () => {
  const host = "         0          0 4294967295\n";
  const rootless = "         0       1000          1\n         1     100000      65536\n";
  const mapped = `${rootless}1900000000      70000      65536\n`;
  expect([host, rootless, mapped].map((map) => hasIds(map, 1_900_000_000, 65_536))).toEqual([true, false, true]);
  expect(hasIds(mapped, 1_900_000_001, 65_536)).toBe(false);
});

test("a namespace without the machines' ids is refused", async () => {
  const script = `import { findUsers } from "${import.meta.resolve("./machine-users.ts")}"; await findUsers();`;
  const node = [process.execPath, "--input-type=module", "--eval", script];
  await expect(run("unshare", ["--user", "--map-root-user", ...node])).rejects.toMatchObject({
    stderr: expect.stringContaining("This user namespace does not have these ids"),
  });
});
