import { parseValue } from "../contract/validation.ts";
import { clientOf, ProgramMetadata } from "./program-clients.ts";

/** Fetches a JSON document from the public internet; rejects what is not there, is no JSON, too large or too slow. */
export type FetchDocument = (url: string) => Promise<unknown>;

/** How many documents are fetched at once: anybody can ask for any address. */
const maximumFetches = 8;

/**
 * Answers the provider's requests for the documents of programs
 * (https://datatracker.ietf.org/doc/draft-ietf-oauth-client-id-metadata-document/). Of a document, only what the service
 * needs is passed on: the provider would fetch more that it names.
 */
export function clientDocuments(fetchDocument: FetchDocument): (url: string | URL | Request) => Promise<Response> {
  let fetching = 0;
  return async (asked) => {
    const url = String(asked instanceof Request ? asked.url : asked);
    if (fetching >= maximumFetches) return new Response(null, { status: 503 });
    fetching += 1;
    try {
      const document = await fetchDocument(url);
      const metadata = parseValue(ProgramMetadata, document);
      const { client_id } = document as { client_id?: unknown };
      // The provider compares it with the address.
      return Response.json(clientOf(String(client_id), metadata), { headers: { "cache-control": "max-age=300" } });
    } finally {
      fetching -= 1;
    }
  };
}
