import { execFile } from "node:child_process";
import { chmod, chown, mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { BerthError } from "../../contract/errors.ts";

const run = promisify(execFile);

/** The user that runs QEMU when the server is root. It owns the machines' files and nothing else. */
const machineUserName = "berth-vm";

/** The user that runs QEMU: a separate user if the server can switch to it (as root), else the server's own. */
export class Privilege {
  readonly #user: { uid: number; gid: number } | null;

  private constructor(user: { uid: number; gid: number } | null) {
    this.#user = user;
  }

  /** Throws `privilege_missing` if the server is root and the user does not exist. */
  static async find(): Promise<Privilege> {
    if (process.getuid?.() !== 0) return new Privilege(null);
    try {
      const { stdout } = await run("getent", ["passwd", machineUserName]);
      const [, , uid, gid] = stdout.split(":");
      return new Privilege({ uid: Number(uid), gid: Number(gid) });
    } catch (error) {
      throw new BerthError(
        "privilege_missing",
        `As root, Berth runs its machines as the user ${machineUserName}, which is not there. Make it with: ` +
          `useradd --system --home-dir /nonexistent --shell /usr/sbin/nologin ${machineUserName}`,
        { cause: error },
      );
    }
  }

  /** The command that runs `program` without privileges and without a way to regain any. */
  reduced(program: string, args: readonly string[]): [string, string[]] {
    if (!this.#user) return [program, [...args]];
    const { uid, gid } = this.#user;
    const reduction = [
      `--reuid=${uid}`,
      `--regid=${gid}`,
      "--init-groups",
      "--no-new-privs",
      "--inh-caps=-all",
      "--bounding-set=-all",
    ];
    return ["setpriv", [...reduction, program, ...args]];
  }

  /** Gives QEMU's user a path that the server created. */
  async give(...paths: string[]): Promise<void> {
    if (!this.#user) return;
    for (const path of paths) await chown(path, this.#user.uid, this.#user.gid);
  }

  /** Makes a folder that QEMU's user owns and nobody else can enter. */
  async folder(path: string): Promise<void> {
    await mkdir(path, { mode: 0o700 });
    await this.give(path);
  }

  /** Makes files read-only for QEMU's user: a finished template. */
  async freeze(folder: string, ...files: string[]): Promise<void> {
    for (const file of files) {
      if (this.#user) await chown(file, 0, this.#user.gid);
      await chmod(file, this.#user ? 0o440 : 0o400);
    }
    if (this.#user) await chown(folder, 0, this.#user.gid);
    await chmod(folder, this.#user ? 0o750 : 0o700);
  }

  /** Throws `privilege_missing` if a folder above `path` denies QEMU's user access. */
  async requireReach(path: string): Promise<void> {
    if (!this.#user) return;
    for (let folder = path; folder !== dirname(folder); folder = dirname(folder)) {
      const { mode, uid } = await stat(folder);
      if (mode & 0o001 || uid === this.#user.uid) continue;
      throw new BerthError(
        "privilege_missing",
        `The user ${machineUserName} cannot pass through ${folder}. Choose another BERTH_DATA_DIR, or: chmod o+x ${folder}`,
      );
    }
  }
}
