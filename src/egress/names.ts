import { lookup, Resolver } from "node:dns/promises";

/** Answers a name's addresses, all of them; none where it has none. Rejects where that cannot be known. */
export type Resolve = (name: string) => Promise<string[]>;

/** Of one question to a name server, which is asked twice. */
const timeoutMs = 3_000;

/** That a name is not there, or has no address of the kind. */
const absent = new Set(["ENOTFOUND", "ENODATA"]);

/**
 * Asks DNS, for the name as it is: neither the host's own names (`/etc/hosts`) nor its search domains, which are inside.
 * Nor does it take one of Node's four threads, of which slow names could take all.
 */
export const resolvePublic: Resolve = async (name) => {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 2 });
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  const faults = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : []));
  const fault = faults.find(({ code }) => !absent.has(code));
  if (addresses.length === 0 && fault) throw fault;
  return addresses;
};

/** Asks the host, as its own programs do: for names that the operator has named. */
export const resolveHere: Resolve = async (name) => {
  try {
    return (await lookup(name, { all: true })).map(({ address }) => address);
  } catch (error) {
    if (absent.has((error as NodeJS.ErrnoException).code ?? "")) return [];
    throw error;
  }
};
