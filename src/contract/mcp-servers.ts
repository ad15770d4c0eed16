import { z } from "zod";
import { functionServer } from "./functions.ts";
import { limitedRecord } from "./validation.ts";

/** The MCP server with which an agent calls the agents that its owner allows. */
export const agentsServer = "agents";
/** Names of the service's own MCP servers in every machine. */
const reserved: readonly string[] = [functionServer, agentsServer];
/** A tool's `_meta`. Without it, Claude Code hides the tool behind a search. */
export const alwaysOffered = { "anthropic/alwaysLoad": true };
const maximumServers = 16;

/** A reference to one of the agent's secrets within a value: `${NAME}`. */
const reference = /\$\{([A-Z_][A-Z0-9_]*)\}/g;
// biome-ignore lint/suspicious/noTemplateCurlyInString: it is what users write.
const form = "${NAME}";

const Value = z
  .string()
  .max(2_000)
  .regex(/^[^\0\r\n]*$/, "A value must be one line.");
const HeaderName = z
  .string()
  .regex(/^[\w!#$%&'*+.^`|~-]{1,100}$/, "A header's name may contain letters, digits and hyphens.");

/** Headers with credentials: their values stay out of the agent's settings. */
const credentials = /^(authorization|proxy-authorization|cookie|.*(api-?key|token|secret).*)$/i;

const Remote = z.strictObject({
  url: z
    .url({ protocol: /^https?$/, error: "An address must begin with https:// or http://." })
    .max(2_000)
    .refine((text) => !/^https?:\/\/[^/]*@/.test(text), "An address must not contain credentials; use headers.")
    .meta({ description: "Its address, over streamable HTTP. The agent's egress policy must allow its host." }),
  headers: limitedRecord(HeaderName, Value, 20, "Up to 20 headers are allowed.")
    .refine(
      (headers) =>
        Object.entries(headers).every(([name, value]) => !credentials.test(name) || value.search(reference) >= 0),
      `A header with credentials must name a secret that the agent can use in the form ${form}.`,
    )
    .optional()
    .meta({
      description: `\`${form}\` stands for the secret NAME of the agent or its workspace, which is inserted outside of the machine.`,
    }),
});

const Local = z.strictObject({
  command: z
    .string()
    .min(1)
    .max(1_000)
    .regex(/^[^\0]*$/)
    .meta({ description: "A program in the agent's machine." }),
  args: z
    .array(
      z
        .string()
        .max(10_000)
        .regex(/^[^\0]*$/),
    )
    .max(100)
    .optional(),
  env: limitedRecord(
    z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/, "A variable's name may contain letters, digits and underscores."),
    Value,
    1_000,
    "Up to 1000 variables are allowed.",
  )
    .optional()
    .meta({ description: `\`${form}\` stands for the secret NAME of the agent or its workspace.` }),
});

const McpServer = z.union([Remote, Local], "A server needs a url (a remote server) or a command (in the machine).");
export type McpServer = z.infer<typeof McpServer>;

/** An agent's MCP servers, by name. */
export const McpServers = limitedRecord(
  z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,31}$/, "A server's name must have 1 to 32 lowercase letters, digits and hyphens.")
    .refine((name) => !reserved.includes(name), `Reserved names: ${reserved.join(", ")}.`),
  McpServer,
  maximumServers,
  `Up to ${maximumServers} servers are allowed.`,
).meta({ id: "McpServers", description: "MCP servers whose tools the agent has, by name." });
export type McpServers = z.infer<typeof McpServers>;

/** The servers with `values` in place of the secrets' names. Omits a server that names a secret without a value. */
export function withSecrets(
  servers: McpServers,
  values: Readonly<Record<string, string>>,
): { servers: McpServers; missing: { server: string; secret: string }[] } {
  const known: McpServers = {};
  const missing: { server: string; secret: string }[] = [];
  for (const [name, server] of Object.entries(servers)) {
    const lacks = [...JSON.stringify(server).matchAll(reference)]
      .map(([, secret]) => secret!)
      .filter((each) => !(each in values));
    missing.push(...lacks.map((secret) => ({ server: name, secret })));
    if (lacks.length === 0) known[name] = filled(server, values);
  }
  return { servers: known, missing };
}

function filled(server: McpServer, values: Readonly<Record<string, string>>): McpServer {
  const fill = (pairs: Record<string, string> = {}) =>
    Object.fromEntries(
      Object.entries(pairs).map(([name, text]) => [name, text.replaceAll(reference, (_, secret) => values[secret]!)]),
    );
  return "url" in server ? { ...server, headers: fill(server.headers) } : { ...server, env: fill(server.env) };
}
