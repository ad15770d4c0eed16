import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { type IncomingMessage, request as requestPlainly } from "node:http";
import { request as requestSecurely } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { TLSSocket } from "node:tls";
import { challengeHeader, proofHeader } from "../contract/reachability.ts";
import { newChallenge, proofOf } from "./proof.ts";

const timeoutMs = 5_000;

/** The result of a probe of the public address. */
export interface Found {
  /** Null: the name does not resolve here. */
  addresses: string[] | null;
  /** `own`: this installation responded. `other`: another server did. `none`: nothing responded. */
  answer: "own" | "other" | "none";
  /** Why nothing responded, such as `ECONNREFUSED`; null otherwise. */
  fault: string | null;
  /** Why browsers do not trust the certificate, as OpenSSL's or Node's code; null: they do, or there is none. */
  distrust: string | null;
}

/**
 * Resolves the public address and calls this installation there. Only for the operator's own setting: private addresses
 * are allowed. It follows no redirect, reads no body and takes up to 5 s. Never rejects.
 */
export async function probe(publicUrl: string, secretKey: string): Promise<Found> {
  const { hostname } = new URL(publicUrl);
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const signal = AbortSignal.timeout(timeoutMs);
  const addresses = await resolve(host, signal);
  if (addresses === null) return { addresses, answer: "none", fault: null, distrust: null };
  try {
    return { addresses, fault: null, ...(await call(`${publicUrl}/healthz`, addresses, secretKey, signal)) };
  } catch (error) {
    const { code = "ETIMEDOUT" } = error as NodeJS.ErrnoException;
    return { addresses, answer: "none", fault: String(code), distrust: null };
  }
}

/** Null for a name that does not resolve in time. */
async function resolve(host: string, signal: AbortSignal): Promise<string[] | null> {
  if (isIP(host)) return [host];
  const late = once(signal, "abort").then(() => null);
  const found = lookup(host, { all: true }).catch(() => null);
  return (await Promise.race([found, late]))?.map(({ address }) => address) ?? null;
}

async function call(url: string, addresses: string[], secretKey: string, signal: AbortSignal) {
  const challenge = newChallenge();
  const isSecure = url.startsWith("https:");
  const options = {
    lookup: answering(addresses),
    agent: false,
    signal,
    // The certificate is judged, not relied upon: the response proves who answers.
    rejectUnauthorized: false,
    headers: { [challengeHeader]: challenge },
  };
  const asked = isSecure ? requestSecurely(url, options) : requestPlainly(url, options);
  asked.end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  const answer = response.headers[proofHeader] === proofOf(secretKey, challenge) ? "own" : "other";
  const distrust = isSecure ? codeOf((response.socket as TLSSocket).authorizationError) : null;
  response.destroy();
  return { answer, distrust } as const;
}

/** A code such as `CERT_HAS_EXPIRED`; null for a certificate that is trusted. Node returns it as text or as an error. */
function codeOf(error: unknown): string | null {
  if (!error) return null;
  return typeof error === "string" ? error : ((error as NodeJS.ErrnoException).code ?? String(error));
}

/** A look-up with fixed addresses. */
function answering(addresses: string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, options, callback) => {
    if (options.all) callback(null, all);
    else callback(null, all[0]!.address, all[0]!.family);
  };
}
