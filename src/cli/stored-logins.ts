import { mkdir, open, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readJson, replaceJson } from "./private-files.ts";

/** The result of `berth login` for one server. */
export interface Login {
  issuer: string;
  clientId: string;
  audience: string;
  accessToken: string;
  /** Null if the provider gave none. The login then ends with the access token. */
  refreshToken: string | null;
  /** The access token's expiry, ISO 8601. */
  expiresAt: string;
}

const lockPollMs = 50;
/** Longer than any token exchange. An older lock was left by a tool that died. */
const lockMaxAgeMs = 60_000;

/** The stored logins, one per server, in a file that only its user can read. */
export class StoredLogins {
  readonly #folder: string;

  constructor(configFolder: string) {
    this.#folder = configFolder;
  }

  get #file(): string {
    return join(this.#folder, "credentials.json");
  }

  /** Null if none is stored for the server. Throws `CliError` if the file cannot be read. */
  async read(url: string): Promise<Login | null> {
    return this.#all()[url] ?? null;
  }

  /**
   * Replaces the login with what `change` returns, null for none, and returns that. The tool may run several times at
   * once, and a refresh token works once, so changes run one at a time.
   */
  async change(url: string, change: (login: Login | null) => Promise<Login | null>): Promise<Login | null> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await using _ = await this.#lock();
    const { [url]: before, ...others } = this.#all();
    const after = await change(before ?? null);
    if (after === (before ?? null)) return after;
    const logins = after ? { ...others, [url]: after } : others;
    await replaceJson(this.#file, { logins });
    return after;
  }

  #all(): Record<string, Login> {
    const isValid = ({ logins }: { logins: Record<string, Login> }) => Object.values(logins).every(isLogin);
    return readJson(this.#file, isValid, "sign in again: berth login")?.logins ?? {};
  }

  async #lock(): Promise<AsyncDisposable> {
    const file = `${this.#file}.lock`;
    for (;;) {
      const handle = await open(file, "wx", 0o600).catch((error: NodeJS.ErrnoException) => {
        if (error.code === "EEXIST") return null;
        throw error;
      });
      if (handle) {
        await handle.close();
        return { [Symbol.asyncDispose]: () => rm(file, { force: true }) };
      }
      const since = await stat(file).catch(() => null);
      if (since && Date.now() - since.mtimeMs > lockMaxAgeMs) await rm(file, { force: true });
      await sleep(lockPollMs);
    }
  }
}

function isLogin({ issuer, clientId, audience, accessToken, refreshToken, expiresAt }: Login): boolean {
  const texts = [issuer, clientId, audience, accessToken, expiresAt, refreshToken ?? ""];
  return texts.every((text) => typeof text === "string") && !Number.isNaN(Date.parse(expiresAt));
}
