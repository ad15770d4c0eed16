import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

// `node bench/tool.ts`: how long the command line tool takes to start, against the floor of a Node that does nothing. The
// goal for the version and for completion: at most 1.5 times the floor.

const berth = fileURLToPath(new URL("../berth", import.meta.url));
const runs = 30;

const floor = median(process.execPath, ["-e", "0"]);
console.log(`node -e 0                        ${floor.toFixed(0).padStart(5)} ms`);
for (const args of [["--version"], ["complete", "--", "agents", "re"], ["agents", "--help"]]) {
  const time = median(berth, args);
  const name = `berth ${args.join(" ")}`.padEnd(32);
  console.log(`${name} ${time.toFixed(0).padStart(5)} ms   ${(time / floor).toFixed(2)} times`);
}

function median(program: string, args: string[]): number {
  const times = Array.from({ length: runs }, () => {
    const begun = performance.now();
    execFileSync(program, args);
    return performance.now() - begun;
  });
  return times.toSorted((one, other) => one - other)[Math.floor(runs / 2)]!;
}
