import { readConfig } from "../config/env.ts";
import { acceptOrphans } from "./found-files.ts";

// `berth admin adopt-host` runs this on the machine of the service, while no server runs. With `--accept` it keeps that
// the listed files have no owner. The one line is JSON: `orphans`, or `failed` with exit code 1.

process.umask(0o077);
try {
  const config = readConfig(process.env);
  const orphans = await acceptOrphans(config, { accept: process.argv.includes("--accept") });
  console.log(JSON.stringify({ orphans, dataFolder: config.dataFolder }));
} catch (error) {
  console.log(JSON.stringify({ failed: (error as Error).message }));
  process.exitCode = 1;
}
