import type { FileEntry } from "@berth/client";
import { queryOptions } from "@tanstack/react-query";
import fuzzysort from "fuzzysort";
import { berth } from "../api/client.ts";

/** Entries that are searched at most. */
export const mostSearched = 5_000;
const deepest = 8;
const mostShown = 50;

/** The entries below an agent's home folder, up to the limit. */
export function allFilesQuery(agent: string) {
  return queryOptions({
    queryKey: ["agents", agent, "files", "all"],
    queryFn: () => berth.agent(agent).files.list("", { recursive: true, depth: deepest }).take(mostSearched),
    staleTime: 0,
  });
}

/** The paths of files that match what is typed. Those outside hidden and dependency folders come first. */
export function matchingPaths(entries: readonly Pick<FileEntry, "type" | "path">[], typed: string): string[] {
  const paths = entries.filter(({ type }) => type === "file").map(({ path }) => path);
  if (typed === "") return paths.filter((path) => !isAside(path)).slice(0, mostShown);
  const found = fuzzysort.go(typed, paths, { limit: mostShown * 4 });
  const targets = found.map(({ target }) => target);
  return [...targets.filter((path) => !isAside(path)), ...targets.filter(isAside)].slice(0, mostShown);
}

function isAside(path: string): boolean {
  return /(^|\/)(\.|node_modules\/|__pycache__\/|vendor\/)/.test(path);
}
