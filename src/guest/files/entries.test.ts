import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);

/** Lists a folder without root's rights. */
const program = `
  const { listFolder } = await import(${JSON.stringify(import.meta.resolve("./entries.ts"))});
  if (process.getuid() === 0) process.setuid(65534);
  const [path, depth] = process.argv.slice(1);
  const page = await listFolder(path, { limit: 10, after: null, depth: Number(depth) }).catch(({ code }) => ({ code }));
  console.log(JSON.stringify(page.code ?? page.data.map(({ path, name }) => path ?? name)));
`;

async function listed(path: string, depth: number): Promise<unknown> {
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program, path, String(depth)]);
  return JSON.parse(stdout);
}

test("a folder that can be read but not entered is refused, and below another one left out", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "berth-entries-"));
  const closed = join(folder.path, "closed");
  await mkdir(closed);
  await writeFile(join(closed, "file"), "");
  await chmod(folder.path, 0o755);
  await chmod(closed, 0o444);
  expect(await listed(closed, 1)).toBe("EACCES");
  expect(await listed(folder.path, 2)).toEqual(["closed"]);
  await chmod(closed, 0o755);
  expect(await listed(folder.path, 2)).toEqual(["closed", "closed/file"]);
});
