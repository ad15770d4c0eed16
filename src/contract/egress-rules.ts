/**
 * Rules for connections, as operators and owners write them: `*` (anything), `example.com` (this name),
 * `*.example.com` (the names below it, at any depth), `198.51.100.7` or `[2001:db8::1]` (this address),
 * `198.51.100.0/24` or `[2001:db8::/32]` (this network). A `:PORT` at the end limits a rule to one port.
 */
export type EgressRule =
  | { kind: "any"; port: number | null }
  | { kind: "name"; name: string; port: number | null }
  | { kind: "below"; name: string; port: number | null }
  | { kind: "network"; address: string; prefix: number; port: number | null };

/** The valid forms, for error messages. */
export const ruleForms =
  "a host (example.com), all names below it (*.example.com), an address (198.51.100.7, [2001:db8::1]), a network (198.51.100.0/24) or *, each optionally with :PORT; names in their ASCII form";

/** A host in normal form: a lowercase name, or an address (IPv6 without brackets). */
export interface Host {
  kind: "name" | "address";
  text: string;
}

const label = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;
const maximumName = 253;

/**
 * Parses a host as written before a port, with an IPv6 address in brackets. Null for anything else, and for unusual
 * spellings of IPv4 addresses: some programs read `127.1`, `0x7f000001` and `017700000001` as addresses, others as
 * names, and no such names exist.
 */
function parseHost(text: string): Host | null {
  // Before normalization, which may turn non-ASCII letters into ASCII ones.
  if (!/^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+)$/.test(text)) return null;
  const plain = text.toLowerCase().replace(/(?<=[^.])\.$/, "");
  if (!URL.canParse(`http://${plain}/`)) return null;
  const { hostname } = new URL(`http://${plain}/`);
  if (hostname.startsWith("[")) return { kind: "address", text: hostname.slice(1, -1) };
  if (hostname !== plain) return null;
  if (/^\d+(\.\d+){3}$/.test(hostname)) return { kind: "address", text: hostname };
  const isName = hostname.length <= maximumName && hostname.split(".").every((part) => label.test(part));
  return isName ? { kind: "name", text: hostname } : null;
}

/** Parses a port, 1 to 65535; null for anything else. */
function parsePort(text: string): number | null {
  return /^[1-9]\d{0,4}$/.test(text) && Number(text) <= 65_535 ? Number(text) : null;
}

/** Parses `HOST:PORT`; null for anything else. */
export function parseAuthority(text: string): { host: Host; port: number } | null {
  const [, hostText, portText] = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(text) ?? [];
  if (hostText === undefined || portText === undefined) return null;
  const [host, port] = [parseHost(hostText), parsePort(portText)];
  return host && port !== null ? { host, port } : null;
}

/** `HOST:PORT` in normal form. */
export function authorityText({ host, port }: { host: Pick<Host, "text">; port: number }): string {
  return `${host.text.includes(":") ? `[${host.text}]` : host.text}:${port}`;
}

/** Parses a rule; null if it is invalid. */
export function parseRule(text: string): EgressRule | null {
  const [, place, portText] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(bracketed(text.trim())) ?? [];
  if (place === undefined) return null;
  const port = portText === undefined ? null : parsePort(portText);
  if (portText !== undefined && port === null) return null;
  if (place === "*") return { kind: "any", port };
  const below = place.startsWith("*.");
  const [, hostText, prefixText] = /^(?:\*\.)?(\[?[^/]*?)(?:\/(\d{1,3}))?\]?$/.exec(place) ?? [];
  if (hostText === undefined) return null;
  const host = parseHost(hostText.startsWith("[") ? `${hostText.replace("]", "")}]` : hostText);
  if (host?.kind === "name") {
    return prefixText === undefined ? { kind: below ? "below" : "name", name: host.text, port } : null;
  }
  if (!host || below) return null;
  const bits = host.text.includes(":") ? 128 : 32;
  const prefix = prefixText === undefined ? bits : Number(prefixText);
  return prefix <= bits ? { kind: "network", address: host.text, prefix, port } : null;
}

/** Adds the brackets that an IPv6 address or network needs before a port. */
function bracketed(text: string): string {
  return /^[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(\/\d+)?$/.test(text) ? `[${text}]` : text;
}

/** A rule in normal form. */
export function ruleText(rule: EgressRule): string {
  const port = rule.port === null ? "" : `:${rule.port}`;
  if (rule.kind === "any") return `*${port}`;
  if (rule.kind === "name") return `${rule.name}${port}`;
  if (rule.kind === "below") return `*.${rule.name}${port}`;
  const isSix = rule.address.includes(":");
  const network = rule.prefix === (isSix ? 128 : 32) ? rule.address : `${rule.address}/${rule.prefix}`;
  return `${isSix ? `[${network}]` : network}${port}`;
}
