import {
  createRemoteJWKSet,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  jwtVerify,
  type RemoteJWKSet,
} from "jose";
import { z } from "zod";
import { BerthError } from "../contract/errors.ts";
import { parseValue } from "../contract/validation.ts";

/** A valid token's claims. `issuedAt` is null if it has none. */
export interface VerifiedToken {
  subject: string;
  /** OpenID's standard claims about the person. Null where the token has none. */
  name: string | null;
  email: string | null;
  emailVerified: boolean;
  timeZone: string | null;
  issuedAt: Date | null;
  /** The program that it was issued to; null if it does not say. */
  clientId: string | null;
  /** The sign-in that it belongs to; null if it does not say. */
  grantId: string | null;
  /** Null for a token whose sign-in is renewed. */
  expiresAt: Date | null;
}

/** The endpoint that a token is presented to: the API, or `/mcp`, which also accepts tokens for itself alone. */
export type TokenAudience = "api" | "mcp";

/** A verified token with its issuer. */
export interface Identity extends VerifiedToken {
  issuer: string;
}

/** The built-in provider's claim with the id of a token's grant. */
export const grantClaim = "berth_grant";

const maximumTokenBytes = 8 * 1024;
const maximumSubjectLength = 255;
const clockToleranceSeconds = 10;
const requestTimeoutMs = 5_000;
/** How long to wait before asking an unavailable provider again. */
const retryMs = 3_000;
/** How long a key that the issuer has withdrawn may still be trusted. */
const keysMaxAgeMs = 600_000;

/** Signatures that only the issuer can make: not `none`, nor shared secrets, for which its public key could pass. */
const algorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512"].concat([
  "EdDSA",
  "Ed25519",
]);

/** Three parts in base64url, the first a JSON object. */
const tokenShape = /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/;

/**
 * Verifies that a token is signed with one of the keys, has this audience and issuer, and is valid now; otherwise
 * returns null. Throws what `keys` throws, except for an unknown key.
 */
export async function verifyToken(
  token: string,
  keys: JWTVerifyGetKey,
  { issuer, audience }: { issuer: string; audience: string | string[] },
): Promise<VerifiedToken | null> {
  if (token.length > maximumTokenBytes || !tokenShape.test(token)) return null;
  try {
    const claims = await verifyWithAny(token, keys, {
      issuer,
      audience,
      algorithms,
      clockTolerance: clockToleranceSeconds,
      requiredClaims: ["sub", "exp"],
    });
    const subject = subjectOf(claims);
    const issuedAt = claims.iat === undefined ? null : new Date(claims.iat * 1000);
    const clientId = typeof claims.client_id === "string" ? claims.client_id : null;
    const grantId = textOf(claims[grantClaim], 100);
    if (subject === null) return null;
    return { subject, ...personOf(claims), issuedAt, clientId, grantId, expiresAt: new Date(claims.exp! * 1000) };
  } catch (error) {
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}

/** A token without a key id may be signed with any of several keys. */
async function verifyWithAny(token: string, keys: JWTVerifyGetKey, options: JWTVerifyOptions): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, keys, options)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      try {
        return (await jwtVerify(token, key, options)).payload;
      } catch (failed) {
        if (!(failed instanceof errors.JWSSignatureVerificationFailed)) throw failed;
      }
    }
    throw error;
  }
}

/** Null for a subject that the database would reject. */
function subjectOf({ sub }: JWTPayload): string | null {
  return textOf(sub, maximumSubjectLength);
}

/** https://openid.net/specs/openid-connect-core-1_0.html#StandardClaims */
function personOf(claims: JWTPayload): Pick<VerifiedToken, "name" | "email" | "emailVerified" | "timeZone"> {
  const email = textOf(claims.email, 254);
  return {
    name: textOf(claims.name, 200),
    email,
    emailVerified: email !== null && claims.email_verified === true,
    timeZone: textOf(claims.zoneinfo, 100),
  };
}

/** Null for a claim that is missing, too long, or that the database would reject. */
function textOf(claim: unknown, maximum: number): string | null {
  const fits = typeof claim === "string" && claim.length > 0 && claim.length <= maximum;
  return fits && claim.isWellFormed() && !claim.includes("\0") ? claim : null;
}

const Discovery = z.object({ issuer: z.string(), jwks_uri: z.url({ protocol: /^https?$/ }) });

export interface IssuerOptions {
  /** Exactly as in its tokens. */
  issuer: string;
  /** The `aud` of its tokens for this service. */
  audience: string;
  /** Pause between two fetches of keys that are caused by tokens with an unknown key. */
  unknownKeyMs: number;
}

/**
 * Verifies tokens of an external OpenID provider. Its keys are found by discovery
 * (https://openid.net/specs/openid-connect-discovery-1_0.html) at the first token, and cached for ten minutes.
 */
export class IssuerTokens {
  readonly #options: IssuerOptions;
  #keys: Promise<RemoteJWKSet> | null = null;

  constructor(options: IssuerOptions) {
    this.#options = options;
  }

  /** Null for an invalid token. Throws `identity_provider_unavailable` if the issuer's keys cannot be fetched. */
  async verify(token: string): Promise<Identity | null> {
    const { issuer } = this.#options;
    const verified = await verifyToken(token, (header, input) => this.#keyOf(header, input), this.#options);
    return verified && { issuer, ...verified };
  }

  #keyOf: JWTVerifyGetKey = async (header, input) => {
    try {
      return await (await this.#discovered())(header, input);
    } catch (error) {
      const ofTheToken =
        error instanceof errors.JWKSNoMatchingKey ||
        error instanceof errors.JWKSMultipleMatchingKeys ||
        error instanceof errors.JOSENotSupported;
      if (ofTheToken || error instanceof BerthError) throw error;
      throw unavailable(error);
    }
  };

  #discovered(): Promise<RemoteJWKSet> {
    this.#keys ??= discover(this.#options).catch((error: unknown) => {
      setTimeout(() => {
        this.#keys = null;
      }, retryMs).unref();
      throw unavailable(error);
    });
    return this.#keys;
  }
}

async function discover({ issuer, unknownKeyMs }: IssuerOptions): Promise<RemoteJWKSet> {
  const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const response = await fetch(url, { signal: AbortSignal.timeout(requestTimeoutMs) });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  const found = parseValue(Discovery, await response.json());
  if (found.issuer !== issuer) throw new Error(`${url} is of the issuer ${found.issuer}, and not of ${issuer}`);
  return createRemoteJWKSet(new URL(found.jwks_uri), {
    timeoutDuration: requestTimeoutMs,
    cooldownDuration: unknownKeyMs,
    cacheMaxAge: keysMaxAgeMs,
  });
}

function unavailable(cause: unknown): BerthError {
  const message = "The identity provider is not responding, so that no token can be checked; try again soon.";
  return new BerthError("identity_provider_unavailable", message, { cause });
}
