import { execFile } from "node:child_process";
import { readFile, rename, symlink, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { authoritiesFile, environmentFile, type GuestSecrets } from "../contract/guest.ts";

/** Where Debian's tools find authorities of a machine's own, should they make the list of all anew. */
const ownAuthority = "/usr/local/share/ca-certificates/berth-agent.crt";

/** Gives shells the placeholders, and has programs trust the authority. */
export async function provideSecrets({ placeholders, authority }: GuestSecrets): Promise<void> {
  const trusted = authority === null ? undefined : trust(authority);
  await Promise.all([writePlaceholders(environmentFile, placeholders), trusted]);
}

/** Writes the script that sets them. */
export async function writePlaceholders(file: string, placeholders: GuestSecrets["placeholders"]): Promise<void> {
  const lines = Object.entries(placeholders).map(([name, value]) => `export ${name}=${value}\n`);
  await replace(file, lines.join(""));
}

/** Once for each authority: it is on the disk then. */
async function trust(authority: string): Promise<void> {
  if ((await readFile(ownAuthority, "utf8").catch(() => "")) === authority) return;
  const others = await readFile(authoritiesFile, "utf8");
  await replace(authoritiesFile, `${others.trimEnd()}\n${authority.trimEnd()}\n`);
  await writeFile(ownAuthority, authority);
  // Programs that look an authority up by its hash, as OpenSSL has it by default, find a link of that name.
  const { stdout } = await promisify(execFile)("/usr/bin/openssl", ["x509", "-noout", "-hash", "-in", ownAuthority]);
  await symlink(ownAuthority, `/etc/ssl/certs/${stdout.trim()}.0`).catch(() => {});
}

/** Whole or not at all: programs read them at any moment. */
async function replace(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o644 });
  await rename(`${path}.new`, path);
}
