import { parseValue } from "../contract/validation.ts";
import { Budget } from "../core/budget.ts";
import { setRecent } from "../core/recent.ts";
import { clientOf, ProgramMetadata } from "./program-clients.ts";

/**
 * Fetches a JSON document from the public internet. Rejects if it is missing, is not JSON, or is too large or too slow.
 */
export type FetchDocument = (url: string) => Promise<unknown>;

/** Limits on concurrent fetches, in total and per domain: anybody can request any address. */
const fetchLimits = { total: 16, perHolder: 2 };
/** How long a failed fetch is not repeated, and how many failures are remembered. */
const failedMs = 60_000;
const maximumFailed = 1_000;

/**
 * Answers the provider's requests for the documents of programs
 * (https://datatracker.ietf.org/doc/draft-ietf-oauth-client-id-metadata-document/). Returns only the fields that the
 * service needs, because the provider would fetch URLs in the others.
 */
export function clientDocuments(fetchDocument: FetchDocument): (url: string | URL | Request) => Promise<Response> {
  const fetching = new Budget(fetchLimits);
  /** Hosts whose fetches failed, with the time of the next allowed attempt. */
  const failed = new Map<string, number>();
  return async (asked) => {
    const url = String(asked instanceof Request ? asked.url : asked);
    const { hostname } = new URL(url);
    if ((failed.get(hostname) ?? 0) > Date.now()) return new Response(null, { status: 503 });
    using entered = fetching.take(domainOf(hostname), 1);
    if (!entered) return new Response(null, { status: 503 });
    const document = await fetchDocument(url).catch((error: unknown) => {
      setRecent(failed, hostname, Date.now() + failedMs, maximumFailed);
      throw error;
    });
    const metadata = parseValue(ProgramMetadata, document);
    const { client_id } = document as { client_id?: unknown };
    // The provider compares this id with the document's address.
    return Response.json(clientOf(String(client_id), metadata), { headers: { "cache-control": "max-age=300" } });
  };
}

/** The last two labels of a name. All names below them may belong to one person. */
function domainOf(hostname: string): string {
  return hostname.split(".").slice(-2).join(".");
}
