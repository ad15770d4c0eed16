import { execFile } from "node:child_process";
import { cp, mkdtempDisposable, realpath } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { makeCompressedImageArchive } from "../../deploy/container/image-archive.ts";

const run = promisify(execFile);
const sources = join(import.meta.dirname, "../../deploy/container");
const suite = "trixie";
const mirror = "http://deb.debian.org/debian";

/** Files that no program reads. Licences stay. */
const unread = [
  "path-exclude=/usr/share/doc/*",
  "path-include=/usr/share/doc/*/copyright",
  "path-include=/usr/share/doc/berth/licences.txt.gz",
  ...["man", "info", "locale", "lintian", "bash-completion", "zsh", "fish"].map(
    (name) => `path-exclude=/usr/share/${name}/*`,
  ),
];

/** Remains of the installation. Some differ each time. */
const remains = [
  "var/log/*",
  "var/cache/ldconfig/aux-cache",
  "var/cache/debconf/*-old",
  "var/lib/dpkg/*-old",
  "etc/*-",
];

/** Environment of a container. The port mapping reaches all its addresses and nothing else does. */
const environment = {
  BERTH_HOST: "0.0.0.0",
  BERTH_PUBLIC_URL: "http://localhost:7420",
  BERTH_DATA_DIR: "/var/lib/berth",
  BERTH_CACHE_DIR: "/var/cache/berth",
  // All processes of a container end with it.
  BERTH_STOP_SUSPEND_SECONDS: "100",
  HOME: "/root",
};

/** Removes what the mount of the package leaves in the root: an empty file, and its folders that no package has. */
function removalOf(path: string): string {
  const isUnknown = '! grep --quiet --line-regexp --fixed-strings -- "$folder" var/lib/dpkg/info/*.list';
  const removal = `while ${isUnknown}; do rmdir ".$folder"; folder=$(dirname "$folder"); done`;
  return `rm '.${path}' && folder=$(dirname '${path}') && ${removal}`;
}

/**
 * Makes the archive of the container image in `folder`: a Debian root with the Debian package `debianPackage`. The same
 * package and state of the mirror give the same bytes. `epoch`: the release's time, in seconds since 1970.
 */
export async function makeContainerImage(debianPackage: string, folder: string, version: string, epoch: number) {
  await using work = await mkdtempDisposable(join(folder, ".container-"));
  const archive = await realpath(debianPackage);
  const root = join(work.path, "root.tar");
  const options = [
    "--variant=essential",
    // Lets apt in the root read the package at its path here.
    "--hook-dir=/usr/share/mmdebstrap/hooks/file-mirror-automount",
    `--include=ca-certificates,tini,${archive}`,
    ...unread.map((option) => `--dpkgopt=${option}`),
    `--customize-hook=copy-in ${join(sources, "start")} /usr/lib/berth`,
    `--customize-hook=cd "$1" && rm -rf ${remains.join(" ")}`,
    `--customize-hook=cd "$1" && ${removalOf(archive)}`,
  ];
  await run("mmdebstrap", [...options, suite, root, mirror], {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(epoch) },
    maxBuffer: 16 * 1024 * 1024,
  });
  await makeCompressedImageArchive(join(folder, `berth-container-${version}.tar`), `localhost/berth:${version}`, root, {
    command: ["/usr/bin/tini", "--", "/usr/lib/berth/start"],
    environment,
    volumes: ["/var/lib/berth", "/var/cache/berth"],
    ports: [7420],
    epoch,
  });
  for (const name of ["compose.yaml", "compose.kvm.yaml"]) await cp(join(sources, name), join(folder, name));
}
