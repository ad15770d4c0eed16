import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readFile, rm } from "node:fs/promises";
import type { Duplex } from "node:stream";
import { promisify } from "node:util";
import { loginEnvironment, replaceFile } from "../runtimes/process.ts";
import type { RuntimeContext } from "../runtimes/runtime.ts";
import type { GuestHandlers } from "./control.ts";
import { joined } from "./joined.ts";

const run = promisify(execFile);

const program = "/usr/sbin/sshd";
/** The folder that sshd requires for its unprivileged part. */
const privilegeFolder = "/run/sshd";
/** Variables that differ for a user other than the agent. */
const ofAgent = new Set(["HOME", "USER", "LOGNAME", "SHELL"]);
/** How long a session may continue after its connection has closed. */
const lastWordsMs = 5_000;

/**
 * OpenSSH's server, one process for each connection (inetd mode): nothing listens. Accepts only certificates of the
 * service's authority whose principal names this agent and the user.
 */
export class Ssh {
  readonly #context: RuntimeContext;
  readonly #folder: string;
  readonly #machineId: () => string;
  #hostKey: Promise<string> | null = null;

  /** `machineId` returns the current machine's id. */
  constructor(context: RuntimeContext, machineId: () => string) {
    this.#context = context;
    this.#machineId = machineId;
    this.#folder = `${context.stateFolder}/ssh`;
  }

  handlers(): Pick<GuestHandlers, "sshHostKey" | "openSsh"> {
    return {
      sshHostKey: async () => ({ hostKey: await this.#publicHostKey() }),
      openSsh: ({ authority, agentId }) => this.#open(authority, agentId),
    };
  }

  /** Created on first use, so that no template has one and no two machines share one. */
  async #publicHostKey(): Promise<string> {
    const before = this.#hostKey;
    const made = (async () => {
      await before?.catch(() => {});
      return this.#ownHostKey();
    })();
    this.#hostKey = made;
    return made;
  }

  /** A fork has its source's disk, and makes its own key. */
  async #ownHostKey(): Promise<string> {
    const file = `${this.#folder}/host_key`;
    const owner = `${this.#folder}/host_key_machine`;
    await mkdir(this.#folder, { recursive: true });
    await chmod(this.#folder, 0o755); // sshd reads the principals with the user's rights.
    const machineId = this.#machineId();
    const [known, of] = await Promise.all(
      [`${file}.pub`, owner].map((path) => readFile(path, "utf8").catch(() => null)),
    );
    // Keys of earlier versions are reported as unowned; only the machine itself had them.
    if (known && (of ?? machineId) === machineId) {
      if (of === null) await replaceFile(owner, machineId);
      return known.trim();
    }
    for (const path of [file, `${file}.pub`]) await rm(path, { force: true });
    await run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", file]);
    await replaceFile(owner, machineId);
    return (await readFile(`${file}.pub`, "utf8")).trim();
  }

  async #open(authority: string, agentId: string): Promise<Duplex> {
    await this.#publicHostKey();
    await mkdir(privilegeFolder, { recursive: true, mode: 0o755 });
    await mkdir(`${this.#folder}/principals`, { recursive: true });
    await replaceFile(`${this.#folder}/authority.pub`, `${authority}\n`);
    for (const user of ["agent", "root"])
      await replaceFile(`${this.#folder}/principals/${user}`, `${agentId}:${user}\n`);
    await replaceFile(`${this.#folder}/config`, this.#config());
    const child = spawn(program, ["-i", "-e", "-f", `${this.#folder}/config`], { stdio: "pipe", cwd: "/" });
    child.stderr.on("data", (text: Buffer) => this.#context.log(`sshd: ${text.toString().trim()}`));
    child.stdin.on("error", () => {});
    await once(child, "spawn");
    const connection = joined(child.stdout, child.stdin);
    connection.on("error", () => {});
    connection.on("close", () => {
      const timer = setTimeout(() => child.kill("SIGKILL"), lastWordsMs);
      child.once("exit", () => clearTimeout(timer));
    });
    return connection;
  }

  /** See sshd_config(5). */
  #config(): string {
    const folder = this.#folder;
    const environment = Object.entries(loginEnvironment(this.#context))
      .filter(([name]) => !ofAgent.has(name))
      .map(([name, value]) => `"${name}=${value}"`);
    return `HostKey ${folder}/host_key
PidFile none
AuthenticationMethods publickey
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
AuthorizedKeysFile none
TrustedUserCAKeys ${folder}/authority.pub
AuthorizedPrincipalsFile ${folder}/principals/%u
StrictModes no
UsePAM no
UseDNS no
PrintMotd no
PrintLastLog no
AcceptEnv LANG LC_* COLORTERM
SetEnv ${environment.join(" ")}
Subsystem sftp internal-sftp
`;
  }
}
