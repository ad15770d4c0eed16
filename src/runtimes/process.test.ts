import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { endLeftRuntime, killTree, spawnRuntime } from "./process.ts";
import type { RuntimeContext } from "./runtime.ts";

let folder: string;
let context: RuntimeContext;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-runtime-"));
});
afterEach(() => rm(folder, { recursive: true }));

/** By default, a runtime with a running command. Neither ends by itself. */
function spawnOne(script = "sleep 600 & wait") {
  const own = { uid: process.getuid!(), gid: process.getgid!(), log: () => {} };
  context = { ...own, home: folder, environmentFile: join(folder, "environment") } as unknown as RuntimeContext;
  return spawnRuntime("/bin/sh", ["-c", script], { PATH: process.env.PATH! }, "ignore", context);
}

test("a runtime that a killed runner has left is ended, with its commands", async () => {
  const left = await spawnOne();
  const closed = once(left.child, "close"); // Its command shares its error output, so it has ended by then.
  await endLeftRuntime(context);
  await closed;
  expect(left.child.signalCode).toBe("SIGKILL");
});

test("another process that has got a runtime's number since is not taken for it", async () => {
  const other = await spawnOne();
  const file = join(folder, "runtime-process");
  const [pid, start] = (await readFile(file, "utf8")).split(" ");
  for (const name of [`${pid} ${Number(start) - 1}`, `${pid}`, "no number", ""]) {
    await writeFile(file, name);
    await endLeftRuntime(context);
    expect((await readFile(`/proc/${pid}/stat`, "utf8")).split(" ")[2]).toMatch(/[SR]/);
  }
  killTree(other.child);
  await other.ended;
});

test("a runtime has ended though a command that it has left has its output still", async () => {
  const { ended } = await spawnOne("sleep 600 & echo $! > command");
  await ended;
  process.kill(Number(await readFile(join(folder, "command"), "utf8")), "SIGKILL");
});
