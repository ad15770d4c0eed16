import { readdir, readFile } from "node:fs/promises";

const place = "/var/tmp";

/** After all tests: fails the run when one left a process or a folder behind, and ends the processes. */
export default function setup(): () => Promise<void> {
  return async () => {
    const leaks: string[] = [];
    for (const entry of await readdir("/proc")) {
      if (!/^\d+$/.test(entry)) continue;
      const command = await readFile(`/proc/${entry}/cmdline`, "utf8").catch(() => "");
      if (!command.includes(`${place}/berth-test-`)) continue;
      leaks.push(`process ${entry}: ${command.replaceAll("\0", " ").slice(0, 160)}`);
      process.kill(Number(entry), "SIGKILL");
    }
    const folders = (await readdir(place)).filter(
      (name) => name.startsWith("berth-test-") && name !== "berth-test-seed",
    );
    leaks.push(...folders.map((name) => `folder ${place}/${name}`));
    if (leaks.length === 0) return;
    console.error(`the tests left behind:\n${leaks.join("\n")}`);
    process.exitCode = 1;
  };
}
