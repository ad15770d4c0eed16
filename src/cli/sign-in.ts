import { UnreachableError } from "@berth/client";
import * as openid from "openid-client";
import { audienceParameters, ProtectedResource } from "../contract/sign-in.ts";
import { CliError } from "./errors.ts";
import type { Login } from "./stored-logins.ts";

// Imported only when someone signs in: its libraries would double every command's startup time.

/** Where a user confirms the tool's sign-in. */
export interface DevicePrompt {
  url: string;
  code: string;
}

/** The shortest token lifetime of providers that do not state one. */
const usualLifetimeSeconds = 300;

/**
 * Signs in at the identity provider of the server at `url` by device authorization (RFC 8628). `show` displays the page
 * for the user. Resolves when the user has signed in. Throws `CliError`.
 */
export async function signIn(url: string, show: (prompt: DevicePrompt) => void): Promise<Login> {
  const { issuer, clientId, audience } = await findProvider(url);
  return speaking(issuer, async () => {
    const provider = await discover(issuer, clientId);
    if (!provider.serverMetadata().device_authorization_endpoint) {
      throw new CliError(`${issuer} does not support signing in from devices. Use a key instead: BERTH_API_KEY`);
    }
    const scope = "openid offline_access";
    const device = await openid.initiateDeviceAuthorization(provider, { scope, ...audienceParameters(audience) });
    show({ url: device.verification_uri, code: device.user_code });
    const tokens = await openid.pollDeviceAuthorizationGrant(provider, device);
    return toLogin({ issuer, clientId, audience }, tokens, null);
  });
}

/**
 * The login with new tokens. Throws `CliError` if it has ended for good, `UnreachableError` if it may still be valid.
 */
export async function renew(login: Login): Promise<Login> {
  const { issuer, clientId, refreshToken } = login;
  if (refreshToken === null) throw new CliError("Your login has expired. Sign in again: berth login");
  return speaking(issuer, async () => {
    const tokens = await openid.refreshTokenGrant(await discover(issuer, clientId), refreshToken);
    return toLogin(login, tokens, refreshToken);
  });
}

/** Ends the login at its provider, if the provider supports that. Throws as `renew`. */
export async function revoke({ issuer, clientId, refreshToken }: Login): Promise<void> {
  if (refreshToken === null) return;
  await speaking(issuer, async () => {
    const provider = await discover(issuer, clientId);
    if (!provider.serverMetadata().revocation_endpoint) return;
    await openid.tokenRevocation(provider, refreshToken, { token_type_hint: "refresh_token" });
  });
}

async function findProvider(url: string): Promise<Pick<Login, "issuer" | "clientId" | "audience">> {
  const response = await fetch(`${url}/.well-known/oauth-protected-resource`).catch((error: Error) => {
    const { code, message } = error.cause as NodeJS.ErrnoException;
    throw new UnreachableError(`No answer from ${url} (${code ?? message}). Is the server running?`);
  });
  const found = ProtectedResource.safeParse(await response.json().catch(() => null));
  if (!found.success) throw new CliError(`The server at ${url} is not Berth: it does not say where to sign in.`);
  const { authorization_servers: servers, berth_audience: audience, berth_tool_client_id: clientId } = found.data;
  if (servers[0] === undefined) throw new CliError(`The service at ${url} accepts only keys: set BERTH_API_KEY.`);
  return { issuer: servers[0], clientId, audience };
}

async function discover(issuer: string, clientId: string): Promise<openid.Configuration> {
  // A service on this machine or in a private network may have no certificate. Its address says so.
  const execute = new URL(issuer).protocol === "http:" ? [openid.allowInsecureRequests] : [];
  return openid.discovery(new URL(issuer), clientId, undefined, openid.None(), { execute });
}

function toLogin(
  { issuer, clientId, audience }: Pick<Login, "issuer" | "clientId" | "audience">,
  tokens: openid.TokenEndpointResponse,
  refreshToken: string | null,
): Login {
  const lifetimeMs = (tokens.expires_in ?? usualLifetimeSeconds) * 1000;
  return {
    issuer,
    clientId,
    audience,
    accessToken: tokens.access_token,
    refreshToken: tokens.refresh_token ?? refreshToken,
    expiresAt: new Date(Date.now() + lifetimeMs).toISOString(),
  };
}

/** Turns a provider's error into words. */
async function speaking<Result>(issuer: string, talk: () => Promise<Result>): Promise<Result> {
  try {
    return await talk();
  } catch (error) {
    if (error instanceof CliError) throw error;
    if (error instanceof openid.ResponseBodyError)
      throw new CliError(refusalText(error.error, error.error_description));
    throw new UnreachableError(`The request to the identity provider ${issuer} failed: ${reasonOf(error)}`);
  }
}

function refusalText(code: string, description: string | undefined): string {
  switch (code) {
    case "access_denied":
      return "The sign-in was refused.";
    case "expired_token":
      return "The sign-in was not confirmed in time. Start again: berth login";
    case "invalid_grant":
      return "Your login has expired. Sign in again: berth login";
    default:
      return `The identity provider refused the sign-in: ${description ?? code}`;
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? error.cause : null;
  return (cause as NodeJS.ErrnoException | null)?.code ?? cause?.message ?? error.message;
}
