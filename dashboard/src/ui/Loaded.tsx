import type { UseQueryResult } from "@tanstack/react-query";
import { type ReactNode, useEffect } from "react";
import { reachability } from "../api/client.ts";
import { useIsMissing } from "../api/use-missing.ts";
import { Button } from "./Button.tsx";
import { messageOf } from "./message.ts";
import { Loading, Notice } from "./Notice.tsx";

interface LoadedProps<Data> {
  query: Pick<UseQueryResult<Data>, "data" | "error" | "refetch" | "isFetching">;
  /** Shown where the service does not have what is read, or no longer. */
  missing?: ReactNode;
  children: (data: Data) => ReactNode;
}

/** The loaded data, a loading state, or an error. */
export function Loaded<Data>({ query: { data, error, refetch, isFetching }, missing, children }: LoadedProps<Data>) {
  const isGone = useIsMissing({ data, error }, "this");
  const hasFailed = error !== null;
  useEffect(() => (hasFailed ? reachability.onReturn(() => void refetch()) : undefined), [hasFailed, refetch]);
  if (missing !== undefined && isGone) return missing;
  if (data !== undefined) return children(data);
  if (!error) return <Loading />;
  return (
    <Notice
      tone="bad"
      title="Couldn't load this"
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
