import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { endRuntime, killTree, spawnRuntime } from "./process.ts";
import type { RuntimeContext } from "./runtime.ts";

let folder: string;
let context: RuntimeContext;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-runtime-"));
});
afterEach(() => rm(folder, { recursive: true }));

/** By default, a runtime with a running command. Neither ends until it is killed. */
function spawnOne(script = "sleep 600 & wait") {
  const own = { uid: process.getuid!(), gid: process.getgid!(), log: () => {} };
  context = { ...own, home: folder, environmentFile: join(folder, "environment") } as unknown as RuntimeContext;
  return spawnRuntime("/bin/sh", ["-c", script], { PATH: process.env.PATH! }, "ignore", context);
}

test("a runtime that a killed runner has left is ended, with its commands", async () => {
  const left = await spawnOne();
  const closed = once(left.child, "close"); // Its command shares its error output, so it has ended by then.
  await endRuntime(context);
  await closed;
  expect(left.child.signalCode).toBe("SIGKILL");
});

test("a runtime that is asked to end may give up its locks first; one that does not is killed", async () => {
  const orderly = await spawnOne("trap 'touch ended; exit 0' TERM; sleep 600 & echo $! > command; wait");
  await expect.poll(() => readFile(join(folder, "command"), "utf8").catch(() => "")).toMatch(/\d/);
  const closed = once(orderly.child, "close");
  await endRuntime(context, { inOrder: true });
  await closed; // Its command too has ended by then.
  expect(orderly.child.exitCode).toBe(0);
  expect(await readFile(join(folder, "ended"), "utf8")).toBe("");

  const deaf = await spawnOne("trap '' TERM; touch deaf; while :; do sleep 1; done");
  await expect.poll(() => readFile(join(folder, "deaf"), "utf8").catch(() => null)).toBe("");
  const killed = once(deaf.child, "close");
  await endRuntime(context, { inOrder: true });
  await killed;
  expect(deaf.child.signalCode).toBe("SIGKILL");
});

test("another process that has got a runtime's number since is not taken for it", async () => {
  const other = await spawnOne();
  const file = join(folder, "runtime-process");
  const [pid, start] = (await readFile(file, "utf8")).split(" ");
  for (const name of [`${pid} ${Number(start) - 1}`, `${pid}`, "no number", ""]) {
    await writeFile(file, name);
    await endRuntime(context);
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
