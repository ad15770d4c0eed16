import { parseValue } from "../contract/validation.ts";
import { Budget } from "../core/budget.ts";
import { setRecent } from "../core/recent.ts";
import { clientOf, ProgramMetadata } from "./program-clients.ts";

/**
 * Fetches a JSON document from the public internet. Rejects if it is missing, is not JSON, or is too large or too slow.
 */
export type FetchDocument = (url: string) => Promise<unknown>;

/** How many documents are fetched at once, of all and of one domain: anybody can ask for any address. */
const fetchLimits = { total: 16, perHolder: 2 };
/** For how long a document that could not be fetched is not fetched again, and of how many that is remembered. */
const failedMs = 60_000;
const maximumFailed = 1_000;

/**
 * Answers the provider's requests for the documents of programs
 * (https://datatracker.ietf.org/doc/draft-ietf-oauth-client-id-metadata-document/). Of a document, only what the service
 * needs is passed on: the provider would fetch more that it names.
 */
export function clientDocuments(fetchDocument: FetchDocument): (url: string | URL | Request) => Promise<Response> {
  const fetching = new Budget(fetchLimits);
  /** Hosts whose documents could not be fetched, with when they may be again. */
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
    // The provider compares it with the address.
    return Response.json(clientOf(String(client_id), metadata), { headers: { "cache-control": "max-age=300" } });
  };
}

/** The last two labels of a name. Names below them may all be one person's. */
function domainOf(hostname: string): string {
  return hostname.split(".").slice(-2).join(".");
}
