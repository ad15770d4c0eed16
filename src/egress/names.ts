import dns from "node:dns";
import { lookup, Resolver } from "node:dns/promises";

/** Returns all addresses of a name, or none if it has none. Rejects if that cannot be determined. */
export type Resolve = (name: string) => Promise<string[]>;

/** Per query to a name server, which is tried twice. */
const timeoutMs = 3_000;

/** The name does not exist, or has no address of this kind. */
const absent = new Set(["ENOTFOUND", "ENODATA"]);

/**
 * Asks DNS for exactly this name. Ignores `/etc/hosts` and search domains, which are private. Does not occupy one of
 * Node's four threads, which slow names could exhaust. When `signal` aborts, the queries are cancelled.
 */
export async function resolvePublic(name: string, signal?: AbortSignal): Promise<string[]> {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 2 });
  resolver.setServers(dns.getServers()); // A new resolver has the host's servers, whatever the process has set.
  const cancel = () => resolver.cancel();
  signal?.addEventListener("abort", cancel);
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  signal?.removeEventListener("abort", cancel);
  const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  const faults = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : []));
  const fault = faults.find(({ code }) => !absent.has(code));
  if (addresses.length === 0 && fault) throw fault;
  return addresses;
}

/** Resolves as the host's own programs do. Used for names that the operator has listed. */
export const resolveHere: Resolve = async (name) => {
  try {
    return (await lookup(name, { all: true })).map(({ address }) => address);
  } catch (error) {
    if (absent.has((error as NodeJS.ErrnoException).code ?? "")) return [];
    throw error;
  }
};
