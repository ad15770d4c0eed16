import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const checkout = new URL("../../", import.meta.url);

/** The path of one of Berth's programs; `name` is its file in `src`. */
export function programPath(name: string): string {
  return fileURLToPath(new URL(`src/${name}`, checkout));
}

/** Berth's version, from `package.json`. */
export function readVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL("package.json", checkout), "utf8")) as { version: string };
  return version;
}
