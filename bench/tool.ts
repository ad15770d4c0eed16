import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

// `make tool && node bench/tool.ts`: how long the command line tool takes to start, against the floor of a Node that does
// nothing: the bundle, as the npm package has it, and the checkout's script, which looks for changed sources. The goal for
// the version and for completion: at most 1.5 times the floor.

const bundle = fileURLToPath(new URL("../build/cli/main.js", import.meta.url));
const berth = fileURLToPath(new URL("../berth", import.meta.url));
const runs = 30;

const floor = median(process.execPath, ["-e", "0"]);
console.log(`${"node -e 0".padEnd(39)} ${floor.toFixed(0).padStart(5)} ms`);
for (const args of [["--version"], ["complete", "--", "agents", "re"], ["agents", "--help"]]) {
  report("node main.js", args, median(process.execPath, [bundle, ...args]));
  report("berth", args, median(berth, args));
}

function report(program: string, args: string[], time: number): void {
  const name = `${program} ${args.join(" ")}`.padEnd(39);
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
