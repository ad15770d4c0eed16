import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { dashboardClient, toolClient } from "../contract/sign-in.ts";

// Programs of others that sign users in: assistants and editors at `/mcp`. The service stores nothing of them. A program
// brings its metadata either as a document at its own address, which is its id (Client ID Metadata Documents, the way of
// MCP's current revision), or registers (RFC 7591), and its id then holds the metadata, signed by the service.

const maximumUris = 8;
const maximumUriLength = 400;
const maximumNameLength = 80;
const registeredPrefix = "registered.";
/** Schemes that a browser runs or shows itself, instead of opening a program. */
const browserSchemes = /^(javascript|data|file|blob|about|vbscript|view-source|filesystem|ws|wss|ftp|mailto|tel):$/;

/** Whether a client is the service's own: users need not consent to it. */
export function isOwnClient(clientId: string): boolean {
  return clientId === dashboardClient || clientId === toolClient;
}

/** Whether a program at this address runs on the computer that the browser runs on. */
export function isLoopback({ protocol, hostname }: URL): boolean {
  return protocol === "http:" && ["127.0.0.1", "[::1]", "localhost"].includes(hostname);
}

/**
 * Whether a browser may be redirected to this URI after a sign-in: a site with https, a program on the user's computer
 * at any port (RFC 8252, 7.3), or a program with its own scheme.
 */
function mayBeRedirectUri(uri: string): boolean {
  const url = URL.parse(uri);
  if (!url || uri.includes("#") || url.username !== "" || url.password !== "") return false;
  if (url.protocol === "https:") return !["127.0.0.1", "[::1]", "localhost"].includes(url.hostname);
  if (url.protocol === "http:") return isLoopback(url);
  return !browserSchemes.test(url.protocol);
}

const rule =
  "A redirect URI is an https address, an http address of 127.0.0.1, [::1] or localhost, or one with the scheme of a program";

/** A program's own metadata. Fields beyond these are ignored: the service needs none of them. */
export const ProgramMetadata = z.object({
  client_name: z.string().trim().min(1).max(maximumNameLength).catch("A program without a name"),
  redirect_uris: z
    .array(z.string().max(maximumUriLength).refine(mayBeRedirectUri, rule))
    .min(1, "redirect_uris has at least one address.")
    .max(maximumUris),
});
export type ProgramMetadata = z.infer<typeof ProgramMetadata>;

/** A program as a client of the provider: without a secret, and only for the code flow. */
export function clientOf(clientId: string, { client_name, redirect_uris }: ProgramMetadata) {
  const isNative = redirect_uris.some((uri) => !uri.startsWith("https:"));
  return {
    client_id: clientId,
    client_name,
    redirect_uris,
    application_type: isNative ? ("native" as const) : ("web" as const),
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"] as const,
    token_endpoint_auth_method: "none" as const,
  };
}

/** The id of a program that registers. `keys`: the cookie keys; the first signs. */
export function registeredId({ client_name, redirect_uris }: ProgramMetadata, keys: readonly string[]): string {
  const payload = Buffer.from(JSON.stringify([client_name, ...redirect_uris])).toString("base64url");
  return `${registeredPrefix}${payload}.${signatureOf(payload, keys[0]!)}`;
}

/** The metadata of a registered program; null if the service has not issued the id. */
export function registeredClient(clientId: string, keys: readonly string[]): ProgramMetadata | null {
  if (!clientId.startsWith(registeredPrefix)) return null;
  const [payload, signature, ...more] = clientId.slice(registeredPrefix.length).split(".") as [string, string?];
  if (signature === undefined || more.length > 0) return null;
  if (!keys.some((key) => isSame(signature, signatureOf(payload, key)))) return null;
  return metadataIn(payload);
}

/** The user's view of a signed-in program, whose id was checked then. */
export function describeProgram(clientId: string): { name: string; address: string | null } {
  const url = URL.parse(clientId);
  if (!clientId.startsWith(registeredPrefix)) return { name: url?.host ?? "", address: clientId };
  return { name: metadataIn(clientId.slice(registeredPrefix.length).split(".")[0]!).client_name, address: null };
}

function metadataIn(payload: string): ProgramMetadata {
  const [client_name, ...redirect_uris] = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
  return ProgramMetadata.parse({ client_name, redirect_uris });
}

function signatureOf(payload: string, key: string): string {
  return createHmac("sha256", key).update(`a registered program:${payload}`).digest("base64url");
}

function isSame(given: string, right: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(right)];
  return one.length === other.length && timingSafeEqual(one, other);
}
