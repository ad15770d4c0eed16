import { toolWords } from "../checkout.ts";
import type { Environment } from "../environment.ts";
import { CliError } from "../errors.ts";
import { hostSuffix, type SshFiles } from "./ssh-files.ts";

/**
 * The part of an ssh_config(5) for all agents of a service. `Match exec` runs before ssh reads the certificate, which
 * is therefore fresh. Names come from any caller of ssh, including a repository's submodules: they are in single
 * quotes, which ssh does not allow in names, and only the two existing users can run it. A machine gets neither the
 * user's agent nor their display unless ssh is run with `-A` or `-X`.
 */
export function sshConfig(files: SshFiles, environment: Environment): string {
  const tool = toolCommand(environment);
  const folder = quoted(files.folder);
  return `# Written by berth ssh-config.
Host *${hostSuffix}
  User agent
  ForwardAgent no
  ForwardX11 no
  ForwardX11Trusted no
  UpdateHostKeys no
Match host *${hostSuffix} user agent,root exec "${tool} ssh-prepare '%n' --user '%r'"
Host *${hostSuffix}
  IdentityFile "${folder}/key"
  CertificateFile "${folder}/certificates/%n-%r"
  IdentitiesOnly yes
  UserKnownHostsFile "${folder}/known_hosts/%n"
  GlobalKnownHostsFile none
  HostKeyAlgorithms ssh-ed25519
  StrictHostKeyChecking yes
  ProxyCommand ${tool} ssh-proxy '%n'
`;
}

/** This tool, with the service and workspace that it uses now, for a shell within ssh's double quotes. */
function toolCommand({ profile, url, workspace, dataFolder, configFolder }: Environment): string {
  const settings = [
    ...(profile === null ? [`BERTH_URL='${quoted(url ?? "")}'`] : [`BERTH_PROFILE='${quoted(profile)}'`]),
    // Empty: not that of the environment which ssh is run in.
    `BERTH_WORKSPACE='${quoted(workspace ?? "")}'`,
    `BERTH_DATA_DIR='${quoted(dataFolder)}'`,
    `XDG_CONFIG_HOME='${quoted(configFolder.replace(/\/berth$/, ""))}'`,
  ];
  const tool = toolWords().map((word) => `'${quoted(word)}'`);
  return ["env", ...settings, ...tool].join(" ");
}

/** For a config of ssh, where a percent sign begins a token. Throws `CliError` for text that it cannot contain. */
function quoted(text: string): string {
  if (/['"\\\n$`]/.test(text)) {
    const message = `ssh cannot use a path or a name with quotes: ${JSON.stringify(text)}. Choose a workspace by its id.`;
    throw new CliError(message);
  }
  return text.replaceAll("%", "%%");
}
