import { readVersion } from "../checkout.ts";
import type { ToolCommand } from "../command.ts";
import { readEnvironment } from "../environment.ts";
import { CliError } from "../errors.ts";
import { isNewer, latestVersion } from "../release-file.ts";

interface VersionReport {
  version: string;
  /** Of the release file; null without `--check`. */
  latest: string | null;
  isNewer: boolean;
}

export function register(program: ToolCommand): void {
  program
    .add("version", "show the version of this tool, and whether there is a newer one")
    .option("--check", "compare it with the release file of BERTH_RELEASE_FILE, a path or an address")
    .prints(
      async ({ check }: { check?: true }): Promise<VersionReport> => {
        const version = readVersion();
        if (!check) return { version, latest: null, isNewer: false };
        const { releaseFile } = readEnvironment();
        if (releaseFile === null) {
          throw new CliError(
            "BERTH_RELEASE_FILE is not set. Set it to the release.json of a release: an absolute path or an address.",
            2,
          );
        }
        const latest = await latestVersion(releaseFile);
        return { version, latest, isNewer: isNewer(latest, version) };
      },
      ({ version, latest, isNewer: isOlder }) => {
        if (latest === null) return `Berth ${version}`;
        return isOlder
          ? `Berth ${latest} is available. This is ${version}.`
          : `Berth ${version} is the newest version: the release file has ${latest}.`;
      },
    );
}
