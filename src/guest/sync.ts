import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * At each line, sync(2): syscall 162 on x86-64, which Node cannot make. Perl for the reasons that `renew` gives, and kept
 * running for the same one: under emulation, to start a program takes longer than to suspend the machine.
 */
const syncer = '$| = 1; while (<STDIN>) { syscall(162); print "ok\\n" }';

/** Has all that was written in the guest reach its disk. */
export type Syncer = () => Promise<void>;

/** Starts a syncer ahead of the moment in which it is needed. */
export function startSyncer(): Syncer {
  const child = spawn("/usr/bin/perl", ["-e", syncer], { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.on("error", () => {}); // That it has ended is seen below.
  const lines = createInterface({ input: child.stdout });
  lines.on("error", () => {});
  const sync = async () => {
    child.stdin.write("\n");
    const [line] = (await Promise.race([once(lines, "line"), once(child, "close")])) as unknown[];
    // An agent that is its machine's root may have ended the syncer.
    if (line !== "ok") await run("/bin/sync");
  };
  // One after the other: the answer to one is not that to the next.
  let last = Promise.resolve();
  return () => {
    last = last.catch(() => {}).then(sync);
    return last;
  };
}
