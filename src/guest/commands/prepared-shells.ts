import { type ChildProcess, spawn } from "node:child_process";
import type { Duplex } from "node:stream";
import type { RunCommand } from "../../contract/commands.ts";
import { shellWord } from "../../core/shell-word.ts";

/** How long a shell may take to accept a job. One that its user has stopped never does. */
const acceptMs = 10_000;
/**
 * How long after a command the shell of the next one is started. The start holds the runner up (30 ms without KVM); by
 * then a short command has ended and its output is read.
 */
const prepareAfterMs = 100;
/** Bash reads a job byte by byte. A larger one is sooner begun by a shell of its own. */
const maximumJobBytes = 4_096;
/** Waits for a job on descriptor 3. A job that is not complete is not run. */
const script = `IFS= read -r -d '' -u 3 berth_job && eval "$berth_job"`;

/**
 * A variable that bash can be given after its start as well as before: it is no variable of bash's own, nor one that
 * libraries read at the start.
 */
const plainName = /^(?!BASH|COMP|DIRSTACK|EPOCH|FUNC|HIST|LANG|LC_|LD_|OPT|POSIX|SH|berth_)[A-Za-z_]\w*$/;
const namesOfBash =
  /^(CDPATH|EUID|GLIBC_TUNABLES|GLOBIGNORE|GROUPS|IFS|IGNOREEOF|LINENO|OLDPWD|PPID|PWD|RANDOM|SECONDS|SRANDOM|TMOUT|UID|_)$/;

/** How a command's shell is started. */
export interface ShellStart {
  cwd: string;
  /** The variables of all commands of the user. The command's own come on top. */
  base: Record<string, string>;
  /** The user's, if it is not the runner's own. */
  identity: { uid?: number; gid?: number };
}

/** A shell that waits for its command. */
export class PreparedShell {
  readonly child: ChildProcess;
  readonly #channel: Duplex;

  constructor({ base: { BASH_ENV: _, ...env }, identity }: ShellStart) {
    const stdio = ["pipe", "pipe", "pipe", "pipe"] as ["pipe", "pipe", "pipe", "pipe"];
    this.child = spawn("/bin/bash", ["-c", script, "bash"], { cwd: "/", env, ...identity, detached: true, stdio });
    this.child.on("error", () => {});
    this.#channel = this.child.stdio[3] as Duplex;
    this.#channel.on("error", () => {});
  }

  get isAlive(): boolean {
    const { pid, exitCode, signalCode } = this.child;
    return pid !== undefined && exitCode === null && signalCode === null && !this.#channel.destroyed;
  }

  /** Whether the shell is in the job's folder and waits for `go`. If not, it never runs the job. */
  async accepts(job: string): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const late = setTimeout(resolve, acceptMs, false);
    this.#channel.once("data", () => resolve(true)).once("close", () => resolve(false));
    this.#channel.write(`${job}\0`);
    const isAccepted = await promise;
    clearTimeout(late);
    if (!isAccepted) this.kill();
    return isAccepted;
  }

  go(): void {
    this.#channel.end("\n", () => this.#channel.destroy());
  }

  kill(): void {
    this.child.kill("SIGKILL");
  }
}

/**
 * Shells that have been started before their command, one for each user of the machine that runs commands. A start takes
 * an emulated machine several times as long as a small program.
 */
export class PreparedShells {
  readonly #shells = new Map<RunCommand["user"], PreparedShell>();
  #timer: NodeJS.Timeout | undefined;

  /** A shell that has accepted the command; null: none waits, or the command needs one that is started for it. */
  async take(run: RunCommand, start: ShellStart): Promise<PreparedShell | null> {
    const job = jobOf(run, start);
    const shell = this.#shells.get(run.user);
    if (job === null || !shell) return null;
    this.#shells.delete(run.user);
    return shell.isAlive && (await shell.accepts(job)) ? shell : null;
  }

  /** Starts a shell for the next command, soon. */
  prepare(user: RunCommand["user"], start: ShellStart): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (!this.#shells.get(user)?.isAlive) this.#shells.set(user, new PreparedShell(start));
    }, prepareAfterMs);
  }

  end(): void {
    clearTimeout(this.#timer);
    for (const shell of this.#shells.values()) shell.kill();
  }
}

/** The command for a shell that waits; null if the shell could not run it as one that is started for it would. */
function jobOf({ command, env = {} }: RunCommand, { cwd, base }: ShellStart): string | null {
  const isPlain = (name: string) => plainName.test(name) && !namesOfBash.test(name);
  if (!Object.keys(env).every(isPlain)) return null;
  const variables = Object.entries({ BASH_ENV: base.BASH_ENV ?? "", ...env });
  const program = typeof command === "string" ? ["/bin/bash", "-lc", command] : command;
  const job = [
    `cd -P -- ${shellWord(cwd)} 2>/dev/null && echo >&3 && read -r -u 3 berth_job || exit`,
    "exec 3>&-",
    "unset OLDPWD",
    ...variables.map(([name, value]) => `export ${name}=${shellWord(value)}`),
    // As bash does at the start of a script.
    ...(typeof command === "string" ? [] : ['[ ! -r "$BASH_ENV" ] || . "$BASH_ENV"']),
    `exec -- ${program.map(shellWord).join(" ")}`,
  ].join("; ");
  return Buffer.byteLength(job) <= maximumJobBytes ? job : null;
}
