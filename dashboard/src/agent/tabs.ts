import type { Need } from "../workspace/roles.ts";
import { useMay } from "../workspace/use-may.ts";

/** The views of an agent, with other words that find them. Some are no use to a person who may only read. */
const all = [
  { to: "/agents/$name", name: "Conversation", words: "chat, messages", isReadable: true },
  { to: "/agents/$name/changes", name: "Changes", words: "diff, review, revert, comments", isReadable: true },
  { to: "/agents/$name/files", name: "Files", words: "upload, download, folders", isReadable: true },
  { to: "/agents/$name/terminal", name: "Terminal", words: "shell, console, command line", isReadable: false },
  { to: "/agents/$name/ports", name: "Ports", words: "preview, share, web server", isReadable: false },
  { to: "/agents/$name/turns", name: "Turns", words: "history, cost", isReadable: true },
  { to: "/agents/$name/logs", name: "Logs", words: "output, errors", isReadable: false },
  { to: "/agents/$name/network", name: "Network", words: "egress, firewall, hosts, allow", isReadable: false },
  { to: "/agents/$name/snapshots", name: "Snapshots", words: "backup, checkpoint, roll back, undo", isReadable: true },
  { to: "/agents/$name/secrets", name: "Secrets", words: "passwords, credentials, environment", isReadable: false },
  { to: "/agents/$name/connect", name: "Connect", words: "API, curl, SDK, MCP, SSH, VS Code, key", isReadable: false },
  {
    to: "/agents/$name/settings",
    name: "Settings",
    words: "preferences, options, model, instructions, limits, permissions",
    isReadable: false,
  },
] as const;
export type AgentTab = (typeof all)[number];

/** An agent's view, by the path of its route. */
export function nameOfTab(path: string): string {
  return all.find(({ to }) => to === path.replace(/\/$/, ""))?.name ?? "Turn";
}

/** The permission that an agent's view needs, by the path of its route; undefined: none. */
export function needOfTab(path: string): Need | undefined {
  return all.some(({ to, isReadable }) => to === path && !isReadable) ? "use" : undefined;
}

/** Whether an agent's view asks its machine, by the path of its route. */
export function asksMachine(path: string): boolean {
  return /^\/agents\/\$name\/(files|terminal|ports|logs)/.test(path);
}

/** The views of an agent that the person may use. */
export function useAgentTabs(): readonly AgentTab[] {
  const mayUse = useMay("use");
  return all.filter(({ isReadable }) => mayUse || isReadable);
}
