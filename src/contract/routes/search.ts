import { chatReading, route } from "../route.ts";
import { SearchQuery, SearchResult } from "../search.ts";

/** An external agent key finds only the turns that it started. */
export const searchRoutes = {
  search: route({
    method: "GET",
    path: "/search",
    summary: "Search messages and replies of all agents",
    description:
      "Finds ended turns, seconds after their end. A request reads up to 400 candidates: a page may have few matches or none, with a `nextCursor` to continue from.",
    query: SearchQuery,
    responses: { 200: SearchResult },
    permission: chatReading,
    by: "any",
  }),
};
