import { glob, readdir, readFile } from "node:fs/promises";

/** Prepares what the tests share. After all tests, fails the run if any left a process or a folder behind. */
export default async function setup(): Promise<undefined | (() => Promise<void>)> {
  if (process.env.BERTH_TEST_RUN === String(process.pid)) return; // Vitest calls it for each project.
  // Read when the modules are loaded.
  process.env.BERTH_TEST_RUN = String(process.pid);
  const { makeDatabaseSeed } = await import("./database-seed.ts");
  const { folderPrefix } = await import("./config.ts");
  const seed = await makeDatabaseSeed();
  return async () => {
    await seed[Symbol.asyncDispose]();
    const leaks: string[] = [];
    for (const entry of await readdir("/proc")) {
      if (!/^\d+$/.test(entry)) continue;
      const command = await readFile(`/proc/${entry}/cmdline`, "utf8").catch(() => "");
      if (!command.includes(folderPrefix)) continue;
      leaks.push(`process ${entry}: ${command.replaceAll("\0", " ").slice(0, 160)}`);
      process.kill(Number(entry), "SIGKILL");
    }
    for await (const folder of glob(`${folderPrefix}*`)) leaks.push(`folder ${folder}`);
    if (leaks.length === 0) return;
    console.error(`the tests left behind:\n${leaks.join("\n")}`);
    process.exitCode = 1;
  };
}
