import type { Command } from "commander";

/** The file of a command, which adds it to its group. */
type Load = () => Promise<{ register: (group: Command) => void }>;

/** The groups of commands, by their words. */
export const groups: Readonly<Record<string, string>> = {
  service: "have systemd run the server",
  agents: "manage agents",
  "agents network": "manage where an agent may connect to",
  "agents secrets": "manage secrets that an agent can use but not read",
  commands: "manage the commands that you run in agents' machines",
  shares: "list and end the public links to pages that agents serve",
  snapshots: "keep agents as they are, and list and remove what was kept",
  files: "list, read and change files in an agent's machine",
  turns: "show and interrupt what agents were asked",
  profiles: "name the services that you use",
  keys: "manage API keys",
  programs: "list and end the sign-ins of other programs",
  billing: "show credits and usage, and set a limit",
  admin: "administer the installation (operator only)",
  "admin users": "manage users",
  "admin signing-keys": "manage the keys that sign tokens",
  "admin credits": "list and grant credits",
  "admin orphans": "list, give back and remove quarantined files",
};

const commands: Load = () => import("./commands/commands.ts");
const files: Load = () => import("./commands/files.ts");
const profiles: Load = () => import("./commands/profiles.ts");
const programs: Load = () => import("./commands/programs.ts");
const shares: Load = () => import("./commands/shares.ts");
const snapshots: Load = () => import("./commands/snapshots.ts");
const service: Load = () => import("./commands/service.ts");
const sshParts: Load = () => import("./commands/ssh-parts.ts");
const turns: Load = () => import("./commands/turns.ts");
const adminOrphans: Load = () => import("./commands/admin-orphans.ts");
const adminRestore: Load = () => import("./commands/admin-restore.ts");
const adminUsersDisable: Load = () => import("./commands/admin-users-disable.ts");

/** All commands in the order of the help. A file that has several is named for each. */
const loads: Readonly<Record<string, Load>> = {
  up: () => import("./commands/up.ts"),
  down: () => import("./commands/down.ts"),
  doctor: () => import("./commands/doctor.ts"),
  "service install": service,
  "service uninstall": service,
  "service status": service,
  "agents list": () => import("./commands/agents-list.ts"),
  "agents create": () => import("./commands/agents-create.ts"),
  "agents get": () => import("./commands/agents-get.ts"),
  "agents update": () => import("./commands/agents-update.ts"),
  "agents suspend": () => import("./commands/agents-suspend.ts"),
  "agents resume": () => import("./commands/agents-resume.ts"),
  "agents restart": () => import("./commands/agents-restart.ts"),
  "agents upgrade": () => import("./commands/agents-upgrade.ts"),
  "agents rollback": () => import("./commands/agents-rollback.ts"),
  "agents export": () => import("./commands/agents-export.ts"),
  "agents import": () => import("./commands/agents-import.ts"),
  "agents reset": () => import("./commands/agents-reset.ts"),
  "agents turns": () => import("./commands/agents-turns.ts"),
  "agents install-status": () => import("./commands/agents-install-status.ts"),
  "agents logs": () => import("./commands/agents-logs.ts"),
  "agents delete": () => import("./commands/agents-delete.ts"),
  "agents network get": () => import("./commands/agents-network-get.ts"),
  "agents network set": () => import("./commands/agents-network-set.ts"),
  "agents network log": () => import("./commands/agents-network-log.ts"),
  "agents secrets list": () => import("./commands/agents-secrets-list.ts"),
  "agents secrets set": () => import("./commands/agents-secrets-set.ts"),
  "agents secrets remove": () => import("./commands/agents-secrets-remove.ts"),
  "snapshots list": snapshots,
  "snapshots create": snapshots,
  "snapshots remove": snapshots,
  "turns list": turns,
  "turns recent": turns,
  "turns show": turns,
  "turns events": turns,
  "turns cancel": turns,
  "files ls": files,
  "files cat": files,
  "files mkdir": files,
  "files mv": files,
  "files rm": files,
  "files watch": files,
  cp: () => import("./commands/cp.ts"),
  acp: () => import("./commands/acp.ts"),
  chat: () => import("./commands/chat.ts"),
  exec: () => import("./commands/exec.ts"),
  terminal: () => import("./commands/terminal.ts"),
  ssh: () => import("./commands/ssh.ts"),
  "ssh-config": () => import("./commands/ssh-config.ts"),
  "ssh-prepare": sshParts,
  "ssh-proxy": sshParts,
  ports: () => import("./commands/ports.ts"),
  "port-forward": () => import("./commands/port-forward.ts"),
  open: () => import("./commands/open.ts"),
  share: () => import("./commands/share.ts"),
  "shares list": shares,
  "shares remove": shares,
  "commands list": commands,
  "commands show": commands,
  "commands logs": commands,
  "commands input": commands,
  "commands signal": commands,
  login: () => import("./commands/login.ts"),
  logout: () => import("./commands/logout.ts"),
  "profiles list": profiles,
  "profiles add": profiles,
  "profiles use": profiles,
  "profiles remove": profiles,
  whoami: () => import("./commands/whoami.ts"),
  runtimes: () => import("./commands/runtimes.ts"),
  models: () => import("./commands/models.ts"),
  "keys list": () => import("./commands/keys-list.ts"),
  "keys create": () => import("./commands/keys-create.ts"),
  "keys revoke": () => import("./commands/keys-revoke.ts"),
  "programs list": programs,
  "programs end": programs,
  "billing show": () => import("./commands/billing-show.ts"),
  "billing entries": () => import("./commands/billing-entries.ts"),
  "billing usage": () => import("./commands/billing-usage.ts"),
  "billing limit": () => import("./commands/billing-limit.ts"),
  "billing top-up": () => import("./commands/billing-top-up.ts"),
  completion: () => import("./commands/completion.ts"),
  audit: () => import("./commands/audit.ts"),
  connections: () => import("./commands/connections.ts"),
  events: () => import("./commands/events.ts"),
  api: () => import("./commands/api.ts"),
  "admin capacity": () => import("./commands/admin-capacity.ts"),
  "admin backup": () => import("./commands/admin-backup.ts"),
  "admin adopt-host": () => import("./commands/admin-adopt-host.ts"),
  "admin orphans list": adminOrphans,
  "admin orphans give-back": adminOrphans,
  "admin orphans remove": adminOrphans,
  "admin restore": adminRestore,
  "admin verify": adminRestore,
  "admin users list": () => import("./commands/admin-users-list.ts"),
  "admin users add": () => import("./commands/admin-users-add.ts"),
  "admin users reset": () => import("./commands/admin-users-reset.ts"),
  "admin users disable": adminUsersDisable,
  "admin users enable": adminUsersDisable,
  "admin signing-keys replace": () => import("./commands/admin-signing-keys-replace.ts"),
  "admin credits list": () => import("./commands/admin-credits-list.ts"),
  "admin credits grant": () => import("./commands/admin-credits-grant.ts"),
};

/** A command's file, and the words of the group that it belongs to. */
interface CommandFile {
  group: string;
  load: Load;
}

/** The file of the command that these arguments begin with, or else all: only what runs is loaded. */
export function commandFiles(args: readonly string[]): CommandFile[] {
  const all = Object.entries(loads).map(([path, load]) => ({ words: path.split(" "), load }));
  const called = all.filter(({ words }) => words.every((word, at) => args[at] === word));
  const once = all.filter(({ load }, at) => all.findIndex((each) => each.load === load) === at);
  return (called.length > 0 ? called : once).map(({ words, load }) => ({ group: words.slice(0, -1).join(" "), load }));
}
