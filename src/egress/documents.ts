import { request } from "node:https";
import type { LookupFunction } from "node:net";
import { isIP } from "node:net";
import { buffer } from "node:stream/consumers";
import { parseJson } from "../core/json-structure.ts";
import { isOnLink, isOwn, isPublic } from "./addresses.ts";
import { resolvePublic } from "./names.ts";

const timeoutMs = 5_000;
const maximumBytes = 8 * 1024;

/**
 * Fetches a small JSON document from an untrusted address. Only by https, from an address on the public internet that
 * is not this host's or in its network; the check applies to the connected address. Does not follow redirects. Rejects
 * on anything else.
 */
export async function fetchPublicDocument(url: string): Promise<unknown> {
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== "https:") throw new Error("a document must have an https address");
  if (isIP(hostname.replace(/^\[|\]$/g, "")))
    throw new Error("a document's address must have a host name, not an IP address");
  if (port !== "") throw new Error("a document's address must use the default port");
  const signal = AbortSignal.timeout(timeoutMs);
  const lookup = answering(await publicAddresses(hostname, signal));
  signal.throwIfAborted();
  const asked = request(url, { lookup, signal, agent: false, headers: { accept: "application/json" } });
  asked.end();
  const { promise, resolve, reject } = Promise.withResolvers<import("node:http").IncomingMessage>();
  asked.on("response", resolve).on("error", reject);
  const response = await promise;
  try {
    if (response.statusCode !== 200)
      throw new Error(`the document's server responded with status ${response.statusCode}`);
    let size = 0;
    response.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > maximumBytes) response.destroy(new Error("the document is too large"));
    });
    return parseJson(await buffer(response));
  } finally {
    response.destroy();
  }
}

/** The public addresses of a name. Rejects for a name with any other address, and when `signal` aborts. */
export async function publicAddresses(hostname: string, signal: AbortSignal): Promise<string[]> {
  const addresses = await resolvePublic(hostname, signal);
  const isAllowed = (address: string) => isPublic(address) && !isOwn(address) && !isOnLink(address);
  if (addresses.length > 0 && addresses.every(isAllowed)) return addresses;
  throw new Error(`${hostname} is not on the public internet`);
}

/** A look-up with fixed addresses. */
function answering(addresses: string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, options, callback) => {
    if (options.all) callback(null, all);
    else callback(null, all[0]!.address, all[0]!.family);
  };
}
