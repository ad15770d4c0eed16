import * as openid from "openid-client";
import { BerthError } from "../contract/errors.ts";
import { audienceParameters } from "../contract/sign-in.ts";
import type { PendingSignIn, SessionTokens } from "./dashboard-sessions.ts";

/** The lifetime of access tokens of providers that do not state one. */
const usualLifetimeSeconds = 300;
const timeoutSeconds = 5;

interface WebSignInOptions {
  issuer: () => string;
  clientId: string;
  /** Null for the built-in provider, which has one. */
  audience: string | null;
  /** The URL to which the provider redirects the browser. */
  redirectUri: () => string;
  /** Sends requests to the provider; by default over the network. */
  fetch?: openid.CustomFetch;
}

/** Signs browsers in at an OpenID provider, by the code flow with PKCE (RFC 7636). */
export class WebSignIn {
  readonly #options: WebSignInOptions;
  #provider: Promise<openid.Configuration> | null = null;

  constructor(options: WebSignInOptions) {
    this.#options = options;
  }

  async begin(): Promise<{ url: string; pending: PendingSignIn }> {
    const provider = await this.#discovered();
    const { audience, redirectUri } = this.#options;
    const [verifier, state] = [openid.randomPKCECodeVerifier(), openid.randomState()];
    const url = openid.buildAuthorizationUrl(provider, {
      redirect_uri: redirectUri(),
      scope: "openid offline_access",
      state,
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      ...(audience === null ? {} : audienceParameters(audience)),
    });
    return { url: url.href, pending: { state, verifier } };
  }

  /** `returned`: the URL to which the provider redirected the browser. Throws `request_invalid` if it is invalid. */
  async finish(returned: URL, { state, verifier }: PendingSignIn): Promise<SessionTokens> {
    const provider = await this.#discovered();
    const url = new URL(returned.search, this.#options.redirectUri());
    const checks = { expectedState: state, pkceCodeVerifier: verifier };
    const { audience } = this.#options;
    const parameters = audience === null ? {} : audienceParameters(audience);
    return asked(async () => toTokens(await openid.authorizationCodeGrant(provider, url, checks, parameters), null));
  }

  /** Null if the sign-in has ended at the provider. */
  async renew(refreshToken: string): Promise<SessionTokens | null> {
    const provider = await this.#discovered();
    try {
      return await asked(async () => toTokens(await openid.refreshTokenGrant(provider, refreshToken), refreshToken));
    } catch (error) {
      if (error instanceof BerthError && error.code === "request_invalid") return null;
      throw error;
    }
  }

  /** Ends a sign-in. Returns the page where the browser ends its own with the provider; null if that is done. */
  async end({ refreshToken, idToken }: SessionTokens): Promise<string | null> {
    const provider = await this.#discovered();
    const { revocation_endpoint, end_session_endpoint } = provider.serverMetadata();
    if (refreshToken !== null && revocation_endpoint)
      await asked(() => openid.tokenRevocation(provider, refreshToken, { token_type_hint: "refresh_token" }));
    // The built-in provider ends its session together with the token.
    if (this.#options.audience === null || !end_session_endpoint || idToken === null) return null;
    const parameters = { id_token_hint: idToken, post_logout_redirect_uri: this.#options.redirectUri() };
    return openid.buildEndSessionUrl(provider, parameters).href;
  }

  #discovered(): Promise<openid.Configuration> {
    this.#provider ??= this.#discover().catch((error: unknown) => {
      this.#provider = null;
      throw error;
    });
    return this.#provider;
  }

  #discover(): Promise<openid.Configuration> {
    const { issuer, clientId, fetch } = this.#options;
    const url = new URL(issuer());
    // A service on this machine or in a private network may have no certificate. Its address says so.
    const execute = url.protocol === "http:" ? [openid.allowInsecureRequests] : [];
    const options = { execute, timeout: timeoutSeconds, ...(fetch ? { [openid.customFetch]: fetch } : {}) };
    return asked(() => openid.discovery(url, clientId, undefined, openid.None(), options));
  }
}

/**
 * Throws `request_invalid` if the provider refuses the request, and `identity_provider_unavailable` for other errors.
 */
async function asked<Value>(ask: () => Promise<Value>): Promise<Value> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof openid.AuthorizationResponseError || error instanceof openid.ResponseBodyError) {
      const said = error.error_description ?? error.error;
      throw new BerthError("request_invalid", `The identity provider refuses: ${said}`, { cause: error });
    }
    const isOurs = error instanceof openid.ClientError && /^OAUTH_(INVALID|JWT|MISSING)/.test(error.code ?? "");
    if (isOurs)
      throw new BerthError("request_invalid", "This sign-in is not the one that was begun.", { cause: error });
    const message = "The identity provider is not responding; try again soon.";
    throw new BerthError("identity_provider_unavailable", message, { cause: error });
  }
}

function toTokens(answer: openid.TokenEndpointResponse, refreshToken: string | null): SessionTokens {
  const lifetime = answer.expires_in ?? usualLifetimeSeconds;
  return {
    accessToken: answer.access_token,
    accessExpiresAt: Date.now() + lifetime * 1000,
    refreshToken: answer.refresh_token ?? refreshToken,
    idToken: answer.id_token ?? null,
  };
}
