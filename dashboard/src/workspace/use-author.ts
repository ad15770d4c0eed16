import { type Author, authorText } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import { hasOthersQuery, meQuery } from "../api/queries.ts";

/** Tells who wrote something, where the workspace has several members; null where it does not matter. */
export function useAuthor(): (author: Author | null) => string | null {
  const { data: me } = useQuery(meQuery);
  const { data: hasOthers } = useQuery({ ...hasOthersQuery(me?.workspace.id ?? ""), enabled: me !== undefined });
  return (author) => {
    if (!hasOthers || author === null) return null;
    return author.kind === "person" && author.id === me?.person?.id ? "You" : authorText(author);
  };
}
