import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";

/** The folder or file of an agent in the page's address. Neither: the home folder. */
export interface FilePlace {
  path?: string | undefined;
  file?: string | undefined;
}

export function filePlaceIn({ path, file }: Readonly<Record<string, unknown>>): FilePlace {
  if (typeof file === "string" && file !== "") return { file };
  return typeof path === "string" && path !== "" ? { path } : {};
}

/** The search of a link that shows a place and keeps the rest of the address. */
export function searchFor({ path, file }: FilePlace): (before: object) => object {
  return (before) => ({ ...before, path: path || undefined, file: file || undefined });
}

export function useFilePlace(): FilePlace {
  const search: Readonly<Record<string, unknown>> = useSearch({ strict: false });
  const { path, file } = filePlaceIn(search);
  return useMemo(() => ({ path, file }), [path, file]);
}

export function useGoToFiles(): (place: FilePlace) => void {
  const navigate = useNavigate();
  return (place) => void navigate({ to: ".", search: searchFor(place) });
}
