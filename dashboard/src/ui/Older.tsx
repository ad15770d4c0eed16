import type { UseInfiniteQueryResult } from "@tanstack/react-query";
import { Button } from "./Button.tsx";

/** Asks for the next page of a list that has one. */
export function Older({
  query: { hasNextPage, isFetchingNextPage, fetchNextPage },
}: {
  query: Pick<UseInfiniteQueryResult, "hasNextPage" | "isFetchingNextPage" | "fetchNextPage">;
}) {
  if (!hasNextPage) return null;
  return (
    <Button className="justify-self-center" isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
      Older
    </Button>
  );
}
