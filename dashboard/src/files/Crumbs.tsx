import { Link } from "@tanstack/react-router";
import { crumbsOf } from "./paths.ts";
import { searchFor } from "./place.ts";

/** The folders on the way to a folder, each a link. */
export function Crumbs({ path }: { path: string }) {
  const crumbs = crumbsOf(path);
  return (
    <nav aria-label="Folders" className="flex min-w-0 flex-wrap items-center gap-x-1 text-sm">
      {crumbs.map(({ label, path: to }, at) => (
        <span key={to} className="flex min-w-0 items-center gap-1">
          {at > 0 && <span className="text-muted">/</span>}
          <Link
            to="."
            search={searchFor({ path: to })}
            aria-current={at === crumbs.length - 1 ? "page" : undefined}
            className="rounded px-1 py-0.5 wrap-anywhere hover:bg-sunken aria-[current]:font-medium"
          >
            {label}
          </Link>
        </span>
      ))}
    </nav>
  );
}
