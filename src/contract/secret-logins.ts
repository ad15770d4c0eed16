import { z } from "zod";
import { AgentName } from "./agents.ts";

/** The path where browsers come back from an authorization server. */
export const mcpCallbackPath = "/mcp/callback";
/** The path of the document that describes this service to authorization servers. */
export const mcpClientPath = "/mcp/client.json";

/** How many agents a request can name. */
const maximumAgents = 1_000;
const maximumScopes = 50;

/** Characters that a client's id or secret may have (RFC 6749, appendix A). */
const credential = z
  .string()
  .min(1)
  .max(2_000)
  .regex(/^[\x20-\x7e]+$/, "Only printable ASCII characters are allowed.");

const McpUrl = z
  .url({ protocol: /^https?$/, error: "An address must begin with https://." })
  .max(2_000)
  .refine((text) => !/^https?:\/\/[^/]*@|#/.test(text), "An address must not contain credentials or a fragment.")
  .meta({
    description:
      "The MCP server's address. http and inner hosts are for those that the operator has listed. Without it, the address of before.",
    examples: ["https://mcp.example.com/mcp"],
  });

export const ConnectMcpServer = z
  .strictObject({
    url: McpUrl.optional(),
    agents: z
      .array(AgentName)
      .max(maximumAgents, `Up to ${maximumAgents} agents can be named.`)
      .nullable()
      .optional()
      .meta({ description: "As for other secrets. Null: all agents." }),
    clientId: credential.optional().meta({
      description:
        "A client that you have registered at the authorization server. Without it, the server registers itself.",
    }),
    clientSecret: credential.optional().meta({ description: "The client's secret, if it has one. Never returned." }),
    scopes: z
      .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/, "A scope must be one word."))
      .min(1)
      .max(maximumScopes)
      .optional()
      .meta({ description: "The scopes to ask for. Without it, those that the MCP server names." }),
  })
  .refine(({ clientId, clientSecret }) => clientSecret === undefined || clientId !== undefined, {
    message: "clientSecret needs a clientId.",
  })
  .meta({ id: "ConnectMcpServer" });
export type ConnectMcpServer = z.infer<typeof ConnectMcpServer>;

export const McpConnection = z
  .object({
    authorizationUrl: z
      .string()
      .meta({ description: "The page of the authorization server, for the browser of the person who connects." }),
    expiresAt: z.iso.datetime().meta({ description: "Until when the person can finish it." }),
  })
  .meta({ id: "McpConnection" });

export const ConfirmMcpServer = z
  .strictObject({
    code: z.string().min(1).max(40).meta({ description: "The code that the browser shows at the end." }),
  })
  .meta({ id: "ConfirmMcpServer" });

const time = z.iso.datetime();

export const SecretLogin = z
  .object({
    url: z.string().meta({ description: "The MCP server's address." }),
    status: z.enum(["pending", "connected", "failed"]).meta({
      description:
        "`pending`: a person is to finish it. `failed`: requests of agents fail until it is connected again (`POST /secrets/{secret}/connect`).",
    }),
    scopes: z
      .array(z.string())
      .max(1_000)
      .meta({ description: "The scopes that the authorization server has allowed." }),
    expiresAt: time.nullable().meta({
      description: "The end of the current token. It is refreshed before, if the authorization server allows that.",
    }),
    connectedAt: time.nullable().meta({ description: "When a person last finished it." }),
    attemptExpiresAt: time.nullable().meta({
      description: "Until when a person can finish it. Null: there is no attempt, or it has ended.",
    }),
    reason: z.string().nullable().meta({ description: "Why it, or the last attempt to connect it again, failed." }),
  })
  .meta({ id: "SecretLogin", description: "The sign-in to an MCP server whose token is the secret's value." });
export type SecretLogin = z.infer<typeof SecretLogin>;

/** https://datatracker.ietf.org/doc/draft-ietf-oauth-client-id-metadata-document/ */
export const McpClient = z
  .object({
    client_id: z.string(),
    client_name: z.string(),
    redirect_uris: z.array(z.string()).max(1),
    grant_types: z.array(z.string()).max(2),
    response_types: z.array(z.string()).max(1),
    token_endpoint_auth_method: z.string(),
    application_type: z.enum(["web", "native"]),
  })
  .meta({ id: "McpClient", description: "A client ID metadata document." });
export type McpClient = z.infer<typeof McpClient>;
