import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { archiveEnvironment } from "./archive-program.ts";

const run = promisify(execFile);

/** The reasons that `rm` gives (strerror(3)), by the code of the system call. */
const reasons: Readonly<Record<string, string>> = {
  "Permission denied": "EACCES",
  "Operation not permitted": "EPERM",
  "Read-only file system": "EROFS",
  "Device or resource busy": "EBUSY",
};

/**
 * Removes a path with everything below it, if it exists. Uses the machine's own program, which goes from folder to
 * folder by descriptors: a tree may be deeper than the longest path, and a folder may be replaced by a link during the
 * removal. Stops when `gone` aborts; the rest stays.
 */
export async function removeTree(path: string, gone?: AbortSignal): Promise<void> {
  const options = { killSignal: "SIGKILL", env: archiveEnvironment, ...(gone && { signal: gone }) } as const;
  try {
    await run("rm", ["--recursive", "--force", "--", path], options);
  } catch (error) {
    gone?.throwIfAborted();
    const { stderr = "" } = error as { stderr?: string };
    const [, entry, reason] = /^rm: cannot remove '(.*)': (.*)$/m.exec(stderr) ?? [];
    throw Object.assign(error as Error, { code: reasons[reason ?? ""] ?? "", path: entry ?? path });
  }
}
