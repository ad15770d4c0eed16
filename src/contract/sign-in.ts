import { z } from "zod";

/** The client id of the CLI at the built-in identity provider. */
export const toolClient = "berth-cli";
export const dashboardClient = "berth-dashboard";

/** The path prefix of that provider. */
export const signInPrefix = "/oidc";

/** Where to get tokens for the service (RFC 9728). Fields that begin with `berth_` are extensions. */
export const ProtectedResource = z
  .object({
    resource: z.url(),
    resource_name: z.string(),
    authorization_servers: z.array(z.url()),
    scopes_supported: z.array(z.string()),
    bearer_methods_supported: z.array(z.string()),
    berth_audience: z.string().meta({ description: "The `aud` that tokens must have." }),
    berth_tool_client_id: z.string().meta({ description: "What the command line tool is called at the provider." }),
    berth_dashboard_client_id: z.string(),
  })
  .meta({ id: "ProtectedResource" });
export type ProtectedResource = z.infer<typeof ProtectedResource>;

/** Who is asking. */
export const AccountRecord = z
  .object({
    id: z.uuid(),
    name: z.string(),
    operator: z.boolean().meta({ description: "It looks after the installation." }),
    credential: z.enum(["full", "token"]).meta({ description: "A key, or a token of the identity provider." }),
  })
  .meta({ id: "Account" });
export type AccountRecord = z.infer<typeof AccountRecord>;
