import { CliError } from "../errors.ts";

const heading = `# Settings of the Berth server, read by systemd: NAME=value lines. docs/configuration.md has them all.
# After a change: systemctl restart berth
`;

/** Settings as a file for `EnvironmentFile=`, each value in single quotes (systemd.exec(5)). Throws `CliError`. */
export function settingsText(settings: Readonly<Record<string, string>>): string {
  const lines = Object.entries(settings).map(([name, value]) => {
    if (/['\p{Cc}]/u.test(value)) throw new CliError(`${name}: its value cannot be stored in a settings file.`, 2);
    return `${name}='${value}'\n`;
  });
  return heading + lines.join("");
}
