import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChevronRight, File, Folder } from "lucide-react";
import { useState } from "react";
import { folderQuery } from "../api/queries.ts";
import { classes } from "../ui/classes.ts";
import { childOf, crumbsOf } from "./paths.ts";
import { searchFor } from "./place.ts";
import { displayed } from "./use-display.ts";

/** The most entries of one folder in the tree; the list has all. */
const mostInTree = 300;

interface TreeProps {
  name: string;
  /** The folder that is shown, or that has the open file. */
  folder: string;
  /** The open file, for which the tree has files, too. */
  file: string | undefined;
  showsHidden: boolean;
}

/** The folders of the machine, where there is space next to the list. */
export function FolderTree(props: TreeProps) {
  const [root] = crumbsOf(props.folder);
  return (
    <nav
      aria-label="Folder tree"
      className="hidden w-60 shrink-0 overflow-auto border-r bg-surface p-2 text-sm @4xl:block"
    >
      <ul>
        <Node key={`${props.name} ${root!.path}`} {...props} path={root!.path} label={root!.label} />
      </ul>
    </nav>
  );
}

interface NodeProps extends TreeProps {
  path: string;
  label: string;
}

function Node({ path, label, ...tree }: NodeProps) {
  const { folder, file } = tree;
  const isOnWay = crumbsOf(folder).some((crumb) => crumb.path === path);
  const [isOpened, setOpened] = useState<boolean | null>(null);
  const isOpen = isOpened ?? isOnWay;
  const isCurrent = folder === path && file === undefined;
  return (
    <li>
      <div className={classes("flex items-center rounded-md hover:bg-sunken", isCurrent && "bg-accent-soft")}>
        <button
          type="button"
          aria-label={`Folder ${label}`}
          aria-expanded={isOpen}
          onClick={() => setOpened(!isOpen)}
          className="flex items-center justify-center rounded p-1 text-muted"
        >
          <ChevronRight className={classes("size-4 transition-transform", isOpen && "rotate-90")} aria-hidden />
        </button>
        <Link
          to="."
          search={searchFor({ path })}
          preload={false}
          aria-current={isCurrent ? "page" : undefined}
          className="flex min-w-0 flex-1 items-center gap-1.5 py-0.5 pr-1"
        >
          <Folder className="size-4 shrink-0 text-accent" aria-hidden />
          <span className="truncate" title={label}>
            {label}
          </span>
        </Link>
      </div>
      {isOpen && <Entries {...tree} path={path} />}
    </li>
  );
}

function Entries({ path, ...tree }: TreeProps & { path: string }) {
  const { name, file, showsHidden } = tree;
  const { data } = useQuery(folderQuery(name, path));
  if (data === undefined) return null;
  const wanted = data.data.filter(({ type }) => type === "folder" || (file !== undefined && type === "file"));
  const entries = displayed(wanted, { order: "name", showsHidden });
  return (
    <ul className="ml-3 border-l pl-1">
      {entries.slice(0, mostInTree).map((entry) => {
        const at = childOf(path, entry.name);
        return entry.type === "folder" ? (
          <Node key={at} {...tree} path={at} label={entry.name} />
        ) : (
          <FileLink key={at} path={at} label={entry.name} isCurrent={at === file} />
        );
      })}
      {entries.length > mostInTree && <li className="px-2 py-0.5 text-muted">{entries.length - mostInTree} more</li>}
    </ul>
  );
}

function FileLink({ path, label, isCurrent }: { path: string; label: string; isCurrent: boolean }) {
  return (
    <li>
      <Link
        to="."
        search={searchFor({ file: path })}
        preload={false}
        aria-current={isCurrent ? "page" : undefined}
        className={classes(
          "ml-6 flex min-w-0 items-center gap-1.5 rounded-md py-0.5 pr-1 hover:bg-sunken",
          isCurrent && "bg-accent-soft font-medium",
        )}
      >
        <File className="size-4 shrink-0 text-muted" aria-hidden />
        <span className="truncate" title={label}>
          {label}
        </span>
      </Link>
    </li>
  );
}
