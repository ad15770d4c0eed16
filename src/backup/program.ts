import { once } from "node:events";
import { createReadStream } from "node:fs";
import { parseArgs } from "node:util";
import { readConfig } from "../config/env.ts";
import { readKey, restoreBackup, type SecretKey, verifyBackup } from "./restore.ts";

// `berth admin restore` and `berth admin verify` run this on the service's machine. Each line is JSON: `doing`, then
// `restored` or `verified`. A failure is `failed` and exit code 1.

process.umask(0o077);
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { "secret-key": { type: "string" }, "without-secret-key": { type: "boolean" } },
});
const [task, file] = positionals;
const tell = (line: object) => console.log(JSON.stringify(line));

try {
  const source = file === "-" ? process.stdin : createReadStream(file!);
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      interrupted.abort(new Error("It was interrupted."));
      source.destroy(interrupted.signal.reason);
    });
  }
  if (source !== process.stdin) await once(source, "open");
  if (task === "verify") {
    const { header, files } = await verifyBackup(source);
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    tell({ verified: { ...header, files: files.length, bytes } });
  } else {
    const config = readConfig(process.env);
    const header = await restoreBackup(source, {
      config,
      secretKey: await secretKeyFor(config.secretKey),
      doing: (doing) => tell({ doing }),
      signal: interrupted.signal,
    });
    tell({ restored: { ...header, dataFolder: config.dataFolder } });
  }
} catch (error) {
  tell({ failed: (error as Error).message });
  process.exitCode = 1;
}
// Ends a writer whose pipe is closed.
process.stdin.destroy();

async function secretKeyFor(configured: string | null): Promise<SecretKey> {
  const kept = values["secret-key"];
  if (kept !== undefined) return { key: await readKey(kept), toKeep: true };
  if (configured !== null) return { key: configured, toKeep: false };
  if (values["without-secret-key"]) return "none";
  throw new Error(
    "The secret key is not in a backup, and without it agents' secrets and the keys that sign tokens are lost. Give the file that was kept apart: --secret-key FILE. Or give them up: --without-secret-key.",
  );
}
