/** The views of an agent. */
export const agentTabs = [
  { to: "/agents/$name", name: "Conversation" },
  { to: "/agents/$name/files", name: "Files" },
  { to: "/agents/$name/terminal", name: "Terminal" },
  { to: "/agents/$name/ports", name: "Ports" },
  { to: "/agents/$name/turns", name: "Turns" },
  { to: "/agents/$name/logs", name: "Logs" },
  { to: "/agents/$name/network", name: "Network" },
  { to: "/agents/$name/snapshots", name: "Snapshots" },
  { to: "/agents/$name/secrets", name: "Secrets" },
  { to: "/agents/$name/settings", name: "Settings" },
] as const;
