import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** The program that moves downloads in a machine, here in the source. */
export const spliceProgram = join(import.meta.dirname, "../../image/rootfs/usr/lib/berth/splice");

/** The processes of this test's machines that move downloads. */
export async function movers(): Promise<number[]> {
  const pids = (await readFile(`/proc/self/task/${process.pid}/children`, "utf8")).trim().split(" ").filter(Boolean);
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")));
  return pids.filter((_, at) => commands[at]!.includes("/splice")).map(Number);
}
