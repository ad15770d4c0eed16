import type { McpServers } from "@berth/client";

export type McpServer = McpServers[string];

/** A server as a person types it: one header, argument or variable a line. */
export interface McpForm {
  kind: "remote" | "local";
  name: string;
  url: string;
  headers: string;
  command: string;
  args: string;
  env: string;
}

export const emptyForm: McpForm = { kind: "remote", name: "", url: "", headers: "", command: "", args: "", env: "" };

export function formOf(name: string, server: McpServer): McpForm {
  if ("url" in server) return { ...emptyForm, name, url: server.url, headers: joined(server.headers, ": ") };
  const { command, args = [], env } = server;
  return { ...emptyForm, kind: "local", name, command, args: args.join("\n"), env: joined(env, "=") };
}

/** Throws where a line is not what it should be. The rest is for the API to say. */
export function serverOf({ kind, url, headers, command, args, env }: McpForm): McpServer {
  if (kind === "remote") {
    const pairs = pairsOf(headers, ":", "Each header is a line: Name: value");
    return { url: url.trim(), ...(headers.trim() === "" ? {} : { headers: pairs }) };
  }
  return {
    command: command.trim(),
    ...(args.trim() === "" ? {} : { args: args.split("\n").filter((line) => line !== "") }),
    ...(env.trim() === "" ? {} : { env: pairsOf(env, "=", "Each variable is a line: NAME=value") }),
  };
}

/** The agent's secrets that a server names. */
export function secretsNamedBy(server: McpServer): string[] {
  const values = Object.values(("url" in server ? server.headers : server.env) ?? {});
  return [
    ...new Set(values.flatMap((value) => [...value.matchAll(/\$\{([A-Z_][A-Z0-9_]*)\}/g)].map(([, name]) => name!))),
  ];
}

function joined(pairs: Record<string, string> = {}, separator: string): string {
  return Object.entries(pairs)
    .map(([name, value]) => name + separator + value)
    .join("\n");
}

function pairsOf(text: string, separator: string, rule: string): Record<string, string> {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(separator);
      if (at < 1) throw new Error(rule);
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}
