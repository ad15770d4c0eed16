import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** File names of licences and notices. */
const textName = /^(licen[cs]e|copying|notice)([.-].*)?$/i;

/** The name, version, licence and licence texts of the npm packages in these folders. */
export async function licencesText(folders: readonly string[]): Promise<string> {
  const parts: string[] = [];
  for (const folder of folders) {
    const { name, version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as {
      name: string;
      version: string;
      license?: string | { type: string };
    };
    const names = (await readdir(folder)).filter((each) => textName.test(each)).sort();
    const texts = await Promise.all(names.map((each) => readFile(join(folder, each), "utf8")));
    const licence = typeof license === "object" ? license.type : license;
    const heading = `${name} ${version}\nLicence: ${licence ?? "see below"}\n`;
    parts.push([heading, ...texts.map((text) => `${text.trim()}\n`)].join("\n"));
  }
  return parts.join(`\n${"-".repeat(78)}\n\n`);
}
