import type { ToolCommand } from "./command.ts";

/** Loads a file of commands, which adds them to the program. */
type Load = () => Promise<{ register: (program: ToolCommand) => void }>;

/** The files of commands in the order of the help, with the first words of the commands in each. */
const files: readonly [words: string, load: Load][] = [
  ["up down", () => import("./commands/server.ts")],
  ["doctor", () => import("./commands/doctor.ts")],
  ["version", () => import("./commands/version.ts")],
  ["service", () => import("./commands/service.ts")],
  ["agents", () => import("./commands/agents.ts")],
  ["snapshots", () => import("./commands/snapshots.ts")],
  ["turns", () => import("./commands/turns.ts")],
  ["search", () => import("./commands/search.ts")],
  ["conversations", () => import("./commands/conversations.ts")],
  ["approvals", () => import("./commands/approvals.ts")],
  ["automations", () => import("./commands/automations.ts")],
  ["secrets", () => import("./commands/secrets.ts")],
  ["mcp", () => import("./commands/mcp.ts")],
  ["skills", () => import("./commands/skills.ts")],
  ["webhooks", () => import("./commands/webhooks.ts")],
  ["providers", () => import("./commands/providers.ts")],
  ["queue", () => import("./commands/queue.ts")],
  ["uploads", () => import("./commands/uploads.ts")],
  ["files cp", () => import("./commands/files.ts")],
  ["acp", () => import("./commands/acp.ts")],
  ["chat", () => import("./commands/chat.ts")],
  ["exec terminal", () => import("./commands/exec.ts")],
  ["ssh ssh-config ssh-prepare ssh-proxy", () => import("./commands/ssh.ts")],
  ["ports port-forward open share shares", () => import("./commands/ports.ts")],
  ["commands", () => import("./commands/commands.ts")],
  ["login logout", () => import("./commands/login.ts")],
  ["profiles", () => import("./commands/profiles.ts")],
  ["whoami runtimes models", () => import("./commands/catalog.ts")],
  ["workspaces", () => import("./commands/workspaces.ts")],
  ["inbox", () => import("./commands/inbox.ts")],
  ["notifications", () => import("./commands/notifications.ts")],
  ["keys", () => import("./commands/keys.ts")],
  ["programs", () => import("./commands/programs.ts")],
  ["billing", () => import("./commands/billing.ts")],
  ["completion", () => import("./commands/completion.ts")],
  ["audit connections events", () => import("./commands/activity.ts")],
  ["api", () => import("./commands/api.ts")],
  ["admin", () => import("./commands/admin.ts")],
];

/** The file of the command that these arguments begin with, or else all files: unused ones are not loaded. */
export function commandFiles(args: readonly string[]): Load[] {
  const called = files.filter(([words]) => words.split(" ").includes(args[0] ?? ""));
  return (called.length > 0 ? called : files).map(([, load]) => load);
}
