import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { dirname } from "node:path";
import { killAt, thenStep } from "./steps.ts";

// `berth admin restore` in a process that ends as by SIGKILL at the n-th of the steps that change its data folder:
// `KILL_AT`. A step changes an entry of the folder, or of the folder in it that the backup is restored into.

killAt(Number(process.env.KILL_AT));
const folder = process.env.BERTH_DATA_DIR!;
const folders = [folder, `${folder}/restoring`];

type Change = (path: string, ...rest: unknown[]) => Promise<unknown>;
const changes = fs as unknown as Record<"mkdir" | "rename" | "rm" | "writeFile", Change>;
for (const name of ["mkdir", "rename", "rm", "writeFile"] as const) {
  const change = changes[name];
  changes[name] = (path, ...rest) => {
    const call = () => change(path, ...rest);
    return folders.includes(dirname(path)) ? thenStep(call) : call();
  };
}
syncBuiltinESMExports();

await import("../../src/backup/program.ts");
