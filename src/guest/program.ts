import { workerArgument } from "./files/worker-argument.ts";

// The bundle in a guest: the runner, or a worker for files, which needs a small part of it.

if (process.argv[2] === workerArgument) await import("./files/worker.ts");
else await import("./main.ts");
