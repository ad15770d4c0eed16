import { parseSecretHost } from "../contract/secrets.ts";
import type { Destination } from "./policy.ts";

/** A secret: its placeholder in the machine, its value, and the hosts that may receive it. */
export interface Secret {
  placeholder: string;
  hosts: readonly string[];
  /** The request headers in which the placeholder is replaced, in lower case. */
  headers: readonly string[];
  value: string;
}

/** The secrets that a destination may receive over TLS, and in clear text. */
export interface DestinationSecrets {
  tls: readonly Secret[];
  plain: readonly Secret[];
}

/** The secrets that a destination may receive. */
export function secretsFor(secrets: readonly Secret[], destination: Destination): DestinationSecrets {
  const allowed = (isPlain: boolean) =>
    secrets.filter(({ hosts }) => hosts.some((text) => mayHave(text, destination, isPlain)));
  return { tls: allowed(false), plain: allowed(true) };
}

function mayHave(text: string, { host, port }: Destination, isPlain: boolean): boolean {
  const allowed = parseSecretHost(text);
  if (!allowed || allowed.isPlain !== isPlain || allowed.port !== port) return false;
  const { rule } = allowed;
  if (rule.kind === "below") return host.text.endsWith(`.${rule.name}`);
  return host.text === (rule.kind === "name" ? rule.name : rule.address);
}

/** A request's headers, name and value in turn, with the secrets' values where their placeholders may be replaced. */
export function revealed(rawHeaders: readonly string[], secrets: readonly Secret[]): string[] {
  return rawHeaders.map((text, index) => {
    if (index % 2 === 0) return text;
    const name = rawHeaders[index - 1]!.toLowerCase();
    return revealedIn(
      text,
      secrets.filter(({ headers }) => headers.includes(name)),
    );
  });
}

function revealedIn(value: string, secrets: readonly Secret[]): string {
  const [, scheme, credentials] = /^(basic +)([A-Za-z0-9+/=]+)$/i.exec(value) ?? [];
  if (scheme === undefined || credentials === undefined) return replaced(value, secrets);
  // A user name and password in base64 (RFC 7617): git and pip send their tokens this way.
  const plain = Buffer.from(credentials, "base64").toString("utf8");
  const told = replaced(plain, secrets);
  return told === plain ? value : scheme + Buffer.from(told).toString("base64");
}

function replaced(text: string, secrets: readonly Secret[]): string {
  return secrets.reduce((told, { placeholder, value }) => told.replaceAll(placeholder, () => value), text);
}
