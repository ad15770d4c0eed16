import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempDisposable, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FolderLock } from "./folder-lock.ts";

/** Takes the lock of a folder and holds it until it is killed. */
const holder = `
const { FolderLock } = await import(process.argv[1]);
await new FolderLock(process.argv[2]).take(null);
console.log("taken");
setInterval(() => {}, 60_000);`;

test("a folder is refused while a process of another container has it, and free once that is gone", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "berth-lock-"));
  const namespaces = ["--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"];
  const program = [process.execPath, "--input-type=module", "--eval", holder];
  const args = [join(import.meta.dirname, "folder-lock.ts"), folder.path];
  const child = spawn("unshare", [...namespaces, ...program, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  const lock = new FolderLock(folder.path);
  await expect(lock.take(null)).rejects.toThrow(
    `The data folder ${folder.path} is in use by a server in another container.`,
  );
  const closed = once(child, "close");
  child.kill("SIGKILL");
  await closed;
  await lock.take(null);
  await expect(new FolderLock(folder.path).take(null)).rejects.toThrow(`in use by another server (process`);
  await lock.release();
  expect(await readdir(folder.path)).toEqual([]);
});
