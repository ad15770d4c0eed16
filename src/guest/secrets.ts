import { execFile } from "node:child_process";
import { readFile, rename, symlink, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { authoritiesFile, environmentFile, type GuestSecrets } from "../contract/guest.ts";

/** Where Debian's tools find local authorities when they rebuild the list. */
const ownAuthority = "/usr/local/share/ca-certificates/berth-agent.crt";

export async function provideSecrets({ placeholders, authority }: GuestSecrets): Promise<void> {
  const trusted = authority === null ? undefined : trust(authority);
  await Promise.all([writePlaceholders(environmentFile, placeholders), trusted]);
}

export async function writePlaceholders(file: string, placeholders: GuestSecrets["placeholders"]): Promise<void> {
  const lines = Object.entries(placeholders).map(([name, value]) => `export ${name}=${value}\n`);
  await replace(file, lines.join(""));
}

/** By variable. */
export async function readPlaceholders(file: string): Promise<GuestSecrets["placeholders"]> {
  const script = await readFile(file, "utf8").catch(() => "");
  return Object.fromEntries([...script.matchAll(/^export (\w+)=(.*)$/gm)].map(([, name, value]) => [name!, value!]));
}

/** Trusts an authority. It stays on disk, so this is needed only once. */
async function trust(authority: string): Promise<void> {
  if ((await readFile(ownAuthority, "utf8").catch(() => "")) === authority) return;
  const others = await readFile(authoritiesFile, "utf8");
  await replace(authoritiesFile, `${others.trimEnd()}\n${authority.trimEnd()}\n`);
  await writeFile(ownAuthority, authority);
  // OpenSSL by default looks up an authority by a link named after its hash.
  const { stdout } = await promisify(execFile)("/usr/bin/openssl", ["x509", "-noout", "-hash", "-in", ownAuthority]);
  await symlink(ownAuthority, `/etc/ssl/certs/${stdout.trim()}.0`).catch(() => {});
}

/** Replaces a file atomically, because programs may read it at any moment. */
async function replace(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o644 });
  await rename(`${path}.new`, path);
}
