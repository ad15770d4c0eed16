import { execFile } from "node:child_process";
import { chmod, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { createServer } from "../../src/server.ts";
import { newFolder, testConfig } from "../support/config.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// The restoration of a backup, killed at each of its steps in turn (`test/support/stepped-restore.ts`).

const run = promisify(execFile);

test("a killed restoration is complete, or no server starts on it", { timeout: 1_200_000 }, async () => {
  await using stack = new AsyncDisposableStack();
  const folder = await newFolder();
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o711);
  const file = `${folder}-backup.tar`;
  stack.defer(() => rm(file));
  const service = stack.use(await ScriptedService.start());
  await service.client.createAgent("ada");
  await service.client.chat("ada", "hello");
  const { body } = await service.client.call("POST", "/admin/backups");
  await writeFile(file, (await service.client.fetch("GET", `/admin/backups/${body.id}`)).body!);
  const secretKey = join(service.config.dataFolder, "secret.key");

  /** Restores the backup in a process that is killed at a step; false if it was. */
  const restoredBefore = (step: number) => {
    const program = join(import.meta.dirname, "../support/stepped-restore.ts");
    const env = { PATH: process.env.PATH, BERTH_DATA_DIR: folder, KILL_AT: String(step) };
    return run(process.execPath, [program, "restore", "--secret-key", secretKey, "--", file], { env }).then(
      () => true,
      (error: { signal?: string }) => {
        if (error.signal === "SIGKILL") return false;
        throw error;
      },
    );
  };
  let step = 1;
  for (; !(await restoredBefore(step)); step++) {
    const left = (await readdir(folder)).filter((name) => !name.startsWith("server.pid"));
    if (left.length === 0) continue;
    if (!left.includes("restoring")) break;
    await expect(createServer(await testConfig({ dataFolder: folder }))).rejects.toThrow(/is not whole/);
    for (const name of left) await rm(join(folder, name), { recursive: true });
  }
  expect(step).toBeGreaterThan(8);
  await using restored = await ScriptedService.start({ dataFolder: folder });
  expect(await restored.client.ask("ada", "recall")).toBe("hello\nrecall\n");
});
