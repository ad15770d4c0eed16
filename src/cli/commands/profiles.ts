import type { ToolCommand } from "../command.ts";
import { checkUrl, readEnvironment } from "../environment.ts";
import { CliError } from "../errors.ts";
import { checkProfileName, type Profiles, readProfiles, requireProfile, writeProfiles } from "../profiles.ts";
import { readSecret } from "../prompt.ts";
import { tableText } from "../table.ts";
import { printable } from "../terminal.ts";
import { note } from "../verbosity.ts";

interface AddOptions {
  url: string;
  withKey?: true;
}

const help = `
The profile that is used: --profile NAME or BERTH_PROFILE, else BERTH_URL, else the one that "profiles use" chose, else
the service on this machine.

Examples:
  berth profiles add work --url https://berth.example.com
  berth --profile work login
  berth profiles use work`;

export function register(program: ToolCommand): void {
  const profiles = program
    .add("profiles", "manage profiles: names for the services that you use")
    .addHelpText("after", help);
  profiles.add("list", "list your profiles").prints(
    () => publicOf(readProfiles(configFolder())),
    ({ current, profiles: shown }) => {
      if (shown.length === 0) return note("There are no profiles. To add one: berth profiles add");
      return tableText(
        {
          "": ({ name }) => (name === current ? "*" : ""),
          NAME: "name",
          SERVER: "url",
          CREDENTIALS: ({ hasKey }) => (hasKey ? "key" : "login"),
        },
        shown,
      );
    },
  );
  const about = { name: "the profile's name" };
  profiles
    .add("add <name>", "add a profile, or change its service", about)
    .requiredOption("-u, --url <url>", "the service's address")
    .option("--with-key", "ask for an API key, or read it from standard input")
    .action(addProfile);
  profiles
    .add("use [name]", "set the default profile", {
      name: "the profile's name; without it, the service on this machine",
    })
    .action(async (name: string | undefined) => {
      const known = readProfiles(configFolder());
      if (name !== undefined) requireProfile(known, name);
      await writeProfiles(configFolder(), { ...known, current: name ?? null });
      console.log(name === undefined ? "Default: the service on this machine." : `${name} is used.`);
    });
  profiles.add("remove <name>", "remove a profile, and its key", about).action(async (name: string) => {
    const known = readProfiles(configFolder());
    requireProfile(known, name);
    const { [name]: _, ...others } = known.profiles;
    await writeProfiles(configFolder(), { current: known.current === name ? null : known.current, profiles: others });
    console.log(`${name} is forgotten.`);
  });
}

async function addProfile(name: string, { url, withKey }: AddOptions): Promise<void> {
  checkProfileName(name);
  const address = checkUrl("--url", url);
  const key = withKey ? (await readSecret("API key: ")).trim() : null;
  if (key !== null && !/^[\x21-\x7e]+$/.test(key)) throw new CliError("Not a valid API key. Nothing was changed.", 2);
  const known = readProfiles(configFolder());
  await writeProfiles(configFolder(), { ...known, profiles: { ...known.profiles, [name]: { url: address, key } } });
  const next =
    key === null
      ? `To sign in: berth --profile ${name} login`
      : `To use it without --profile: berth profiles use ${name}`;
  console.log(`${name} is ${printable(address)}. ${next}`);
}

/** The folder with the profiles. Reads no profile, since the current one may be missing. */
function configFolder(): string {
  return readEnvironment({ ...process.env, BERTH_PROFILE: "", BERTH_URL: "http://127.0.0.1" }).configFolder;
}

/** The profiles without their keys. */
function publicOf({ current, profiles }: Profiles) {
  const shown = Object.entries(profiles).map(([name, { url, key }]) => ({ name, url, hasKey: key !== null }));
  return { current, profiles: shown };
}
