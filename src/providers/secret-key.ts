import { mayBeSentTo } from "../contract/secrets.ts";

/** A secret of the workspace, as the key of a provider. */
export interface SecretKey {
  name: string;
  hosts: readonly string[];
  /** Null: it was encrypted with another secret key. */
  value: string | null;
  /** Whether it is a sign-in to an MCP server, which has no value. */
  isLogin: boolean;
}

/**
 * Returns why a provider at this address cannot have the secret as its key; null if it can. The secret's hosts decide,
 * so that a person who does not know the value cannot have it sent to an address of their choice.
 */
export function problemOf(name: string, secret: SecretKey | null, address: string): string | null {
  if (!secret) return `The workspace has no secret ${name}.`;
  if (secret.isLogin) return `The secret ${name} is a sign-in to an MCP server; a key is a secret with a value.`;
  const place = placeOf(new URL(address));
  if (!secret.hosts.some((host) => mayBeSentTo(host, place))) {
    const { protocol, host } = new URL(address);
    const needed = protocol === "http:" ? `http://${host}` : host;
    return `The secret ${name} may not be sent to ${needed}. Its hosts are: ${secret.hosts.join(", ") || "none"}.`;
  }
  return secret.value === null
    ? `The secret ${name} was encrypted with another secret key; set its value again.`
    : null;
}

function placeOf({ protocol, hostname, port }: URL) {
  const isPlain = protocol === "http:";
  return { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || (isPlain ? 80 : 443)), isPlain };
}
