import { spawn } from "node:child_process";
import { createHash } from "node:crypto";

/**
 * Regular files and links by their paths below the home, each path its bytes as `latin1`, since names need not be UTF-8. A
 * file's stamp differs after each change: `SIZE CTIME INODE TYPE`.
 */
export type HomeFiles = Map<string, string>;

export function sizeIn(stamp: string): number {
  return Number(stamp.slice(0, stamp.indexOf(" ")));
}

/** Whether the file's status changed at this time, in nanoseconds since 1970. find(1) writes ten digits of a second. */
export function hasChangeTime(stamp: string, ctimeNs: bigint): boolean {
  const [, time] = stamp.split(" ");
  const fraction = String(ctimeNs % 1_000_000_000n).padStart(9, "0");
  return time === `${ctimeNs / 1_000_000_000n}.${fraction}0`;
}

export function isLink(stamp: string): boolean {
  return stamp.endsWith(" l");
}

/** Folders of any depth that hold caches, packages and version control. */
const cacheFolders = [
  ...[".git", ".hg", ".svn", ".jj", "node_modules", "__pycache__", ".venv", "venv", ".cache", ".npm", ".yarn"],
  ...[".pnpm-store", ".bun", ".gradle", ".m2", ".cargo", ".rustup", ".tox", ".nox", ".mypy_cache", ".pytest_cache"],
  ...[".ruff_cache", ".next", ".nuxt", ".turbo", ".parcel-cache", ".terraform", ".ipynb_checkpoints"],
];

/** State of the runtimes and of shells, at the top of the home. */
const stateNames = [
  ...[
    ".claude",
    ".claude.json*",
    ".local/share",
    ".local/state",
    ".config/opencode",
    ".codex",
    ".openclaw",
    ".pi",
    ".gemini",
  ],
  ...[
    ".bash_history",
    ".python_history",
    ".node_repl_history",
    ".lesshst",
    ".viminfo",
    ".wget-hsts",
    ".sudo_as_admin_successful",
  ],
];

/** The most files of a home that are followed. */
const maximumFiles = 200_000;

/** A file is its stamp, a space and its path, ended by a null character. The time of its last change cannot be set. */
const format = "%s %C@ %i %y %P\\0";
const spacesBeforePath = 4;

/**
 * The files of the home, without caches and state. Rejects if there are too many, and when `signal` aborts. Lists with
 * find(1), since a system call for each file from here would block the runner.
 */
export function filesOf(home: string, signal: AbortSignal): Promise<HomeFiles> {
  const skipped = [
    ...cacheFolders.flatMap((name) => ["-name", name, "-o"]),
    ...stateNames.flatMap((name) => ["-path", `./${name}`, "-o"]),
  ].slice(0, -1);
  const args = [".", "-xdev", "(", ...skipped, ")", "-prune", "-o", "(", "-type", "f", "-o", "-type", "l", ")"];
  const child = spawn("find", [...args, "-printf", format], {
    cwd: home,
    stdio: ["ignore", "pipe", "ignore"],
    env: { PATH: "/usr/bin:/bin", LC_ALL: "C" },
    signal,
    killSignal: "SIGKILL",
  });
  const files: HomeFiles = new Map();
  return new Promise((resolve, reject) => {
    let rest = "";
    child.stdout.setEncoding("latin1").on("data", (text: string) => {
      const lines = (rest + text).split("\0");
      rest = lines.pop()!;
      for (const line of lines) add(files, line);
      if (files.size <= maximumFiles) return;
      child.kill("SIGKILL");
      reject(new Error(`the home has more than ${maximumFiles} files`));
    });
    child.once("error", reject);
    // A status of 1: a folder vanished or cannot be read, as others may at any time.
    child.once("close", (status) =>
      status === 0 || status === 1 ? resolve(files) : reject(new Error(`find ended with ${status}`)),
    );
  });
}

function add(files: HomeFiles, line: string): void {
  let end = -1;
  for (let spaces = 0; spaces < spacesBeforePath; spaces++) end = line.indexOf(" ", end + 1);
  files.set(line.slice(end + 1), line.slice(0, end));
}

/** Removes the files of folders that a `CACHEDIR.TAG` marks as caches. */
export function withoutTaggedCaches(files: HomeFiles): HomeFiles {
  const tag = "/CACHEDIR.TAG";
  const caches = [...files.keys()].filter((path) => path.endsWith(tag)).map((path) => path.slice(0, 1 - tag.length));
  if (caches.length === 0) return files;
  return new Map([...files].filter(([path]) => !caches.some((cache) => path.startsWith(cache))));
}

/**
 * The paths that no `.gitignore` ignores, by git's own rules. `repository` is an empty repository of the runner's own:
 * the settings of the agent's repositories, which can name programs, are not read. All paths if git fails.
 */
export function notIgnored(
  paths: readonly string[],
  home: string,
  repository: string,
  signal: AbortSignal,
): Promise<string[]> {
  const child = spawn("git", ["check-ignore", "--no-index", "-z", "--stdin"], {
    cwd: home,
    stdio: ["pipe", "pipe", "ignore"],
    env: {
      PATH: "/usr/bin:/bin",
      LC_ALL: "C",
      GIT_DIR: repository,
      GIT_WORK_TREE: home,
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_ATTR_NOSYSTEM: "1",
    },
    signal,
    killSignal: "SIGKILL",
  });
  child.stdin.on("error", () => {}); // The exit follows.
  child.stdin.end(Buffer.from(paths.map((path) => `${path}\0`).join(""), "latin1"));
  let output = "";
  child.stdout.setEncoding("latin1").on("data", (text: string) => {
    output += text;
  });
  return new Promise((resolve, reject) => {
    child.once("error", (error) => (signal.aborted ? reject(error) : resolve([...paths])));
    child.once("close", () => {
      const ignored = new Set(output.split("\0"));
      resolve(paths.filter((path) => !ignored.has(path)));
    });
  });
}

export function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
