import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { link, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { AgentHandle } from "@berth/client";
import { userNameKey } from "../../contract/users.ts";
import type { Environment } from "../environment.ts";
import { CliError } from "../errors.ts";
import { replaceFile } from "../private-files.ts";

const run = promisify(execFile);

/** The suffix of the host names that stand for agents: `ada.berth`, and `ada.ops.berth` in the workspace ops. */
export const hostSuffix = ".berth";

/** The tool's files for ssh, a folder for each service and chosen workspace. */
export class SshFiles {
  readonly folder: string;

  constructor({ configFolder, url, workspace }: Pick<Environment, "configFolder" | "url" | "workspace">) {
    const service = (url ?? "").replace(/^https?:\/\//, "").replaceAll(/[^a-z0-9.-]/gi, "_");
    const chosen = workspace === null ? "" : `_in_${nameHash(workspace)}`;
    this.folder = join(configFolder, "ssh", service + chosen);
  }

  get key(): string {
    return join(this.folder, "key");
  }

  /** Gets a fresh certificate for the agent at a host, and stores its host key. Throws as the client, and `CliError`. */
  async prepare(host: string, agent: AgentHandle, user: "agent" | "root"): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const { certificate, hostKey } = await agent.ssh.certify(await this.#publicKey(), { user });
    await replaceFile(join(this.folder, "certificates", `${host}-${user}`), `${certificate}\n`);
    await replaceFile(join(this.folder, "known_hosts", host), `${host} ${hostKey}\n`);
  }

  /** The key pair of this user and service, which is made once, however many commands need it at the same time. */
  async #publicKey(): Promise<string> {
    const known = await readFile(`${this.key}.pub`, "utf8").catch(() => null);
    if (known !== null) return known.trim();
    // Elsewhere first: ssh-keygen would ask whether to replace an existing key.
    const fresh = await mkdtemp(join(this.folder, "new-key-"));
    try {
      const made = join(fresh, "key");
      await run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "berth", "-f", made]);
      await link(made, this.key).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "EEXIST") throw error; // Another command was first. Its key counts.
      });
      const { stdout } = await run("ssh-keygen", ["-y", "-f", this.key]);
      await replaceFile(`${this.key}.pub`, stdout);
      return stdout.trim();
    } catch (error) {
      const isMissing = (error as NodeJS.ErrnoException).syscall?.startsWith("spawn") === true;
      throw isMissing ? noSsh() : new CliError(`The key could not be created: ${(error as Error).message}`);
    } finally {
      await rm(fresh, { recursive: true, force: true });
    }
  }
}

/** For a folder's name. A workspace's name may have any letters, and means the same in any case. */
function nameHash(workspace: string): string {
  return createHash("sha256").update(userNameKey(workspace)).digest("hex").slice(0, 16);
}

/** The error where OpenSSH's client is missing. */
export function noSsh(): CliError {
  return new CliError("There is no OpenSSH client here. On Debian: apt-get install openssh-client");
}
