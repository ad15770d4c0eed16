import { lookup } from "node:dns";
import { request } from "node:https";
import type { LookupFunction } from "node:net";
import { isIP } from "node:net";
import { buffer } from "node:stream/consumers";
import { parseJson } from "../platform/json-structure.ts";
import { isOnLink, isOwn, isPublic } from "./addresses.ts";

const timeoutMs = 5_000;
const maximumBytes = 8 * 1024;

/**
 * Fetches a small JSON document that anybody may have named. Only by https, from an address on the public internet that is
 * not this host's or its network's, decided on the very address that is connected to. Redirects are not followed. Rejects
 * whatever else comes.
 */
export async function fetchPublicDocument(url: string): Promise<unknown> {
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== "https:") throw new Error("a document is fetched by https only");
  if (isIP(hostname.replace(/^\[|\]$/g, ""))) throw new Error("a document's address has a name");
  if (port !== "") throw new Error("a document is fetched from the usual port only");
  const signal = AbortSignal.timeout(timeoutMs);
  const asked = request(url, { lookup: lookupPublic, signal, agent: false, headers: { accept: "application/json" } });
  asked.end();
  const { promise, resolve, reject } = Promise.withResolvers<import("node:http").IncomingMessage>();
  asked.on("response", resolve).on("error", reject);
  const response = await promise;
  try {
    if (response.statusCode !== 200) throw new Error(`the document's server answered ${response.statusCode}`);
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

/** Resolves a name, if all its addresses are public. */
export const lookupPublic: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, []);
    const isAllowed = ({ address }: { address: string }) => isPublic(address) && !isOwn(address) && !isOnLink(address);
    if (addresses.length > 0 && addresses.every(isAllowed)) return answer(addresses);
    callback(new Error(`${hostname} is not on the public internet`), []);
  });

  function answer(addresses: { address: string; family: number }[]): void {
    if (options.all) callback(null, addresses);
    else callback(null, addresses[0]!.address, addresses[0]!.family);
  }
};
