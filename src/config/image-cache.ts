import { homedir } from "node:os";
import { join } from "node:path";

/** The folder in which guest images are built and kept. */
export function imageCache(): string {
  if (process.env.BERTH_CACHE_DIR !== undefined) return process.env.BERTH_CACHE_DIR;
  if (process.getuid?.() === 0) return "/var/cache/berth";
  return join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "berth");
}
