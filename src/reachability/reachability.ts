import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import type { Reachability } from "../contract/reachability.ts";
import { isPublic } from "../egress/addresses.ts";
import { type Found, probe } from "./probe.ts";

/** The verdicts of a probe. */
type Judged = Omit<Reachability, "certificate">;

interface Answer {
  ok: boolean;
  /** Follows "because". */
  reason: string;
}

/** Calls this installation at its public address and says in words what works there. */
export async function checkReachability(publicUrl: string, secretKey: string): Promise<Judged> {
  return judge(publicUrl, await probe(publicUrl, secretKey));
}

/** Returns the result of a probe in words. */
export function judge(publicUrl: string, found: Found): Judged {
  const obstacle = obstacleOf(publicUrl, found);
  return {
    url: publicUrl,
    phone: sentence("Your phone can reach this", phone(publicUrl, found, obstacle)),
    passkeys: sentence("Passkeys and push work here", passkeys(publicUrl, found, obstacle)),
  };
}

function sentence(claim: string, { ok, reason }: Answer): Reachability["phone"] {
  return { ok, message: `${claim}: ${ok ? "yes" : "no"}, because ${reason}` };
}

function phone(publicUrl: string, { addresses }: Found, obstacle: string | null): Answer {
  if (isLoopback(publicUrl, addresses)) {
    return {
      ok: false,
      reason: `${publicUrl} leads only to the computer that opens it. Set BERTH_PUBLIC_URL to an address that others reach.`,
    };
  }
  if (obstacle !== null) return { ok: false, reason: obstacle };
  const isInside = !addresses!.some(isPublic);
  const range = isInside ? `, but only in its own network or VPN: ${addresses!.join(", ")} is private` : "";
  const openness = publicUrl.startsWith("https:")
    ? ""
    : ". Everybody on the way can read and change what is sent over HTTP";
  return { ok: true, reason: `this service answers at ${publicUrl}${range}${openness}.` };
}

function passkeys(publicUrl: string, { addresses }: Found, obstacle: string | null): Answer {
  const { protocol, hostname } = new URL(publicUrl);
  if (hostname === "localhost") {
    return { ok: true, reason: "browsers trust localhost, but only on the computer that runs the service." };
  }
  if (protocol !== "https:") {
    return { ok: false, reason: `browsers need HTTPS for them, and ${publicUrl} is HTTP. See docs/https.md.` };
  }
  if (isIP(hostname.replace(/^\[(.*)\]$/, "$1"))) {
    return { ok: false, reason: `passkeys belong to a name, and ${hostname} is an address.` };
  }
  if (obstacle !== null) return { ok: false, reason: obstacle };
  const where = isLoopback(publicUrl, addresses) ? ", but only on the computer that runs the service" : "";
  return { ok: true, reason: `${publicUrl} has a certificate that browsers trust${where}.` };
}

/** Why no client can use the address; null if this host could. */
function obstacleOf(publicUrl: string, { addresses, answer, fault, distrust }: Found): string | null {
  const { hostname, host } = new URL(publicUrl);
  if (addresses === null) return `the name ${hostname} does not resolve on this host.`;
  if (answer === "none") {
    return `nothing answers at ${host} from this host (${fault}). Open the port in the firewall, or forward it in the router.`;
  }
  if (answer === "other") return `another server answers at ${host}. Check the name's addresses, or the proxy.`;
  if (distrust === null) return null;
  return certificateFaults[distrust] ?? `browsers do not trust the certificate (${distrust}).`;
}

const untrusted =
  "no public authority signed the certificate, or its file lacks the certificates of the issuers. Devices that trust your own authority can use it.";

/** By the codes of OpenSSL and Node. */
const certificateFaults: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "the certificate has expired. Renew it.",
  CERT_NOT_YET_VALID: "the certificate is not valid yet. Check this host's clock.",
  ERR_TLS_CERT_ALTNAME_INVALID: "the certificate is for other names than that of BERTH_PUBLIC_URL.",
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
};

function isLoopback(publicUrl: string, addresses: string[] | null): boolean {
  if (/(^|\.)localhost$/.test(new URL(publicUrl).hostname)) return true;
  return addresses?.every((address) => ipaddr.parse(address.split("%")[0]!).range() === "loopback") ?? false;
}
