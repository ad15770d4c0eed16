import { z } from "zod";

/** What the service's own clients are called at the identity provider that it has itself. */
export const toolClient = "berth-cli";
export const dashboardClient = "berth-dashboard";

/** The path below which that provider answers. */
export const signInPrefix = "/oidc";

/** Where tokens for the service come from, after RFC 9728. Fields that begin with `berth_` are the service's own. */
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
