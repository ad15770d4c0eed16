import { readFile } from "node:fs/promises";

/** This Berth's version. */
export async function readVersion(): Promise<string> {
  const { version } = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8"));
  return version as string;
}
