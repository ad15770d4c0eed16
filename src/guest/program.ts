import { schemaCheckerArgument } from "../core/json-schema/checker-argument.ts";
import { workerArgument } from "./files/worker-argument.ts";

// The bundle in a guest: the runner, or one of its helpers, which need a small part of it.

if (process.argv[2] === workerArgument) await import("./files/worker.ts");
else if (process.argv[2] === schemaCheckerArgument) await import("../core/json-schema/checker.ts");
else await import("./main.ts");
