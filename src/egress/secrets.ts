import { mayBeSentTo, parseSecretHost } from "../contract/secrets.ts";
import type { CertifiedHost } from "./certificates.ts";
import type { Destination } from "./policy.ts";

/** A secret: its placeholder in the machine, its value, and the hosts that may receive it. */
export interface Secret {
  placeholder: string;
  hosts: readonly string[];
  /** The request headers in which the placeholder is replaced, in lower case. */
  headers: readonly string[];
  value: string;
  /**
   * The value at the time of a request, where it changes. `isNeeded`: the request has the placeholder. Throws
   * `SecretUnavailable`.
   */
  current?: (isNeeded: boolean) => Promise<string>;
  /** The host has answered a request that had this value with 401. */
  refused?: (value: string) => void;
}

/** A secret that a request needs has no value. The message is for the program in the machine. */
export class SecretUnavailable extends Error {}

/** The secrets with the values that they have for a request. Throws `SecretUnavailable`. */
export async function currentSecrets(
  secrets: readonly Secret[],
  rawHeaders: readonly string[],
): Promise<readonly Secret[]> {
  if (!secrets.some(({ current }) => current)) return secrets;
  return Promise.all(
    secrets.map(async (secret) => {
      const { current, placeholder } = secret;
      if (!current) return secret;
      return { ...secret, value: await current(rawHeaders.some((text) => text.includes(placeholder))) };
    }),
  );
}

/** The secrets that a destination may receive over TLS, and in clear text. */
export interface DestinationSecrets {
  tls: readonly Secret[];
  plain: readonly Secret[];
}

/** The secrets that a destination may receive. */
export function secretsFor(secrets: readonly Secret[], { host, port }: Destination): DestinationSecrets {
  const allowed = (isPlain: boolean) =>
    secrets.filter(({ hosts }) => hosts.some((text) => mayBeSentTo(text, { host: host.text, port, isPlain })));
  return { tls: allowed(false), plain: allowed(true) };
}

export function placeholdersOf({ tls, plain }: DestinationSecrets): string[] {
  return [...tls, ...plain].map(({ placeholder }) => placeholder);
}

/**
 * The name of the destination's certificate: `*.example.com` if a secret is for all names below example.com, so that
 * the unlimited number of such names needs one certificate.
 */
export function certifiedName({ tls }: DestinationSecrets, { text, kind }: Destination["host"]): CertifiedHost {
  const parent = text.slice(text.indexOf(".") + 1);
  const rules = tls.flatMap(({ hosts }) => hosts.map((host) => parseSecretHost(host)?.rule));
  const isBelow = rules.some((rule) => rule?.kind === "below" && rule.name === parent);
  return { kind, text: isBelow ? `*.${parent}` : text };
}

/** The limit of a request's headers with the values inserted, in characters; hosts accept less. */
export const maximumRevealed = 64 * 1024;

/**
 * A request's headers, name and value in turn, with the secrets' values in place of their placeholders where allowed.
 * Null if they would be longer than `maximumRevealed`: a value may be a hundred times as long as its placeholder.
 */
export function revealed(rawHeaders: readonly string[], secrets: readonly Secret[]): string[] | null {
  const told: string[] = [];
  let left = maximumRevealed;
  for (const [index, text] of rawHeaders.entries()) {
    const name = rawHeaders[index - (index % 2)]!.toLowerCase();
    const allowed = index % 2 === 0 ? [] : secrets.filter(({ headers }) => headers.includes(name));
    const value = revealedIn(text, allowed, left);
    if (value === null || value.length > left) return null;
    left -= value.length;
    told.push(value);
  }
  return told;
}

/** Null if it would be longer than `maximum`. */
function revealedIn(value: string, secrets: readonly Secret[], maximum: number): string | null {
  const [, scheme, credentials] = /^(basic +)([A-Za-z0-9+/=]+)$/i.exec(value) ?? [];
  if (scheme === undefined || credentials === undefined) return replaced(value, secrets, maximum);
  // A user name and password in base64 (RFC 7617): git and pip send their tokens this way.
  const plain = Buffer.from(credentials, "base64").toString("utf8");
  const told = replaced(plain, secrets, maximum);
  if (told === null) return null;
  return told === plain ? value : scheme + Buffer.from(told).toString("base64");
}

function replaced(text: string, secrets: readonly Secret[], maximum: number): string | null {
  let told = text;
  for (const { placeholder, value } of secrets) {
    const parts = told.split(placeholder);
    // Checked before building it: a value may contain the placeholder of the next secret.
    if (told.length + (parts.length - 1) * (value.length - placeholder.length) > maximum) return null;
    told = parts.join(value);
  }
  return told;
}
