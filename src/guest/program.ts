import { workerArgument } from "./files/worker-argument.ts";

// What the bundle in a guest runs: the runner, or one of its workers for files, which needs a small part of it.

if (process.argv[2] === workerArgument) await import("./files/worker.ts");
else await import("./main.ts");
