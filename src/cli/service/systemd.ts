import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { CliError } from "../errors.ts";

const run = promisify(execFile);

/** The unit's name. */
export const unitName = "berth.service";

/** systemd's state of the unit. */
export interface UnitState {
  /** `not-found` where there is none. */
  load: string;
  /** `active`, `inactive`, `failed`, `activating`, … */
  active: string;
  /** `enabled` where it starts with the host, or with its user's manager. */
  enabled: string;
  /** The server's process; null where none runs. */
  pid: number | null;
  /** How often systemd has started it again. */
  restarts: number;
}

/** The service manager of the system, or of this user where it is not root. */
export class Systemd {
  readonly isSystem: boolean;
  readonly #scope: readonly string[];

  constructor(isSystem: boolean) {
    this.isSystem = isSystem;
    this.#scope = isSystem ? [] : ["--user"];
  }

  /** Where the unit belongs. `configHome`: the folder of the user's settings. */
  unitFile(configHome: string): string {
    return join(this.isSystem ? "/etc/systemd/system" : join(configHome, "systemd", "user"), unitName);
  }

  /** Throws `CliError` where systemd does not run this host. */
  requireRunning(): void {
    if (existsSync("/run/systemd/system")) return;
    throw new CliError("systemd does not run on this host. To see the unit: berth service install --dry-run");
  }

  async state(): Promise<UnitState> {
    const names = "LoadState,ActiveState,UnitFileState,MainPID,NRestarts";
    const shown = await this.control("show", unitName, `--property=${names}`);
    const of = Object.fromEntries(shown.split("\n").map((line) => line.split("=") as [string, string]));
    return {
      load: of.LoadState ?? "not-found",
      active: of.ActiveState ?? "inactive",
      enabled: of.UnitFileState || "disabled",
      pid: Number(of.MainPID) || null,
      restarts: Number(of.NRestarts) || 0,
    };
  }

  /** Runs systemctl and returns its output. Throws `CliError`. */
  async control(...words: string[]): Promise<string> {
    try {
      return (await run("systemctl", [...this.#scope, ...words])).stdout;
    } catch (error) {
      const { stderr, message } = error as Error & { stderr?: string };
      throw new CliError(`systemctl ${words.join(" ")}: ${stderr?.trim() || message}`);
    }
  }
}
