import type { UseQueryResult } from "@tanstack/react-query";
import { type ReactNode, useEffect } from "react";
import { reachability } from "../api/client.ts";
import { Button } from "./Button.tsx";
import { messageOf } from "./message.ts";
import { Loading, Notice } from "./Notice.tsx";

/** The loaded data, a loading state, or an error. */
export function Loaded<Data>({
  query: { data, error, refetch, isFetching },
  children,
}: {
  query: Pick<UseQueryResult<Data>, "data" | "error" | "refetch" | "isFetching">;
  children: (data: Data) => ReactNode;
}) {
  const hasFailed = error !== null;
  useEffect(() => (hasFailed ? reachability.onReturn(() => void refetch()) : undefined), [hasFailed, refetch]);
  if (data !== undefined) return children(data);
  if (!error) return <Loading />;
  return (
    <Notice
      tone="bad"
      title="This could not be loaded"
      action={
        <Button onClick={() => void refetch()} isBusy={isFetching}>
          Try again
        </Button>
      }
    >
      {messageOf(error)}
    </Notice>
  );
}
