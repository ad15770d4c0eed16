import { z } from "zod";

/** The client id of the CLI at the built-in identity provider. */
export const toolClient = "berth-cli";
export const dashboardClient = "berth-dashboard";

/** The path prefix of that provider. */
export const signInPrefix = "/oidc";

/** How to get tokens for the service (RFC 9728). Fields that begin with `berth_` are extensions. */
export const ProtectedResource = z
  .object({
    resource: z.url(),
    resource_name: z.string(),
    authorization_servers: z.array(z.url()),
    scopes_supported: z.array(z.string()),
    bearer_methods_supported: z.array(z.string()),
    berth_audience: z.string().meta({ description: "The `aud` that tokens must have." }),
    berth_tool_client_id: z.string().meta({ description: "The client id of the command line tool at the provider." }),
    berth_dashboard_client_id: z.string(),
  })
  .meta({ id: "ProtectedResource" });
export type ProtectedResource = z.infer<typeof ProtectedResource>;

/** The caller. */
export const AccountRecord = z
  .object({
    id: z.uuid(),
    name: z.string(),
    operator: z.boolean().meta({ description: "Whether the caller administers the installation." }),
    credential: z
      .enum(["full", "token"])
      .meta({ description: "The kind of credential: a key, or a token of the identity provider." }),
  })
  .meta({ id: "Account" });
export type AccountRecord = z.infer<typeof AccountRecord>;

/** How the provider names a token's audience: `resource` (RFC 8707) or `audience`. */
export function audienceParameters(audience: string): Record<string, string> {
  return URL.canParse(audience) ? { audience, resource: audience } : { audience };
}

/** The path of the dashboard's pages; the dashboard routes them itself. */
export const dashboardPrefix = "/-";

/** The path at which a browser starts to sign in to the dashboard. */
export const dashboardSignIn = "/dashboard/sign-in";

/** The page to return to after the sign-in: a path of the dashboard. */
export const SignInQuery = z.object({ to: z.string().max(2_000).optional() });

/** The credentials of a dashboard page's requests. */
export const DashboardToken = z.object({ accessToken: z.string(), expiresAt: z.iso.datetime() });

export const SignOutQuery = z.object({ everywhere: z.stringbool().default(false) });
/** `signOutUrl`: the identity provider's sign-out page for the browser; null if there is none. */
export const SignedOut = z.object({ signOutUrl: z.url().nullable() });
