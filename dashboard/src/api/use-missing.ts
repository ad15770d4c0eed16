import type { UseQueryResult } from "@tanstack/react-query";
import { useState } from "react";
import { isMissing } from "./client.ts";

/**
 * Whether the service does not have what a query reads, or no longer. It stays so while the query reads again, which
 * forgets its error. `id`: of what is read.
 */
export function useIsMissing({ error, data }: Pick<UseQueryResult, "error" | "data">, id: string): boolean {
  const [known, setKnown] = useState<string | null>(null);
  const isGone = isMissing(error) || (known === id && error === null && data === undefined);
  if (isGone !== (known === id)) setKnown(isGone ? id : null);
  return isGone;
}
