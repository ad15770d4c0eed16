import type { FileEntry } from "@berth/client";
import { Link } from "@tanstack/react-router";
import { File, Folder, Link2 } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { bytes } from "../agent/bytes.ts";
import { Table } from "../ui/Table.tsx";
import { Time } from "../ui/Time.tsx";
import { useAuthor } from "../workspace/use-author.ts";
import { EntryMenu } from "./EntryMenu.tsx";
import { childOf } from "./paths.ts";
import { searchFor } from "./place.ts";

/** Rows that are drawn at first, and whenever the last of them comes into view. */
const rowsAtOnce = 200;

interface TableProps {
  name: string;
  folder: string;
  entries: readonly FileEntry[];
}

/** The entries of a folder, drawn as far as they were scrolled to. */
export function FileTable({ name, folder, entries }: TableProps) {
  const [count, setCount] = useState(rowsAtOnce);
  const end = useRef<HTMLDivElement>(null);
  const hasMore = count < entries.length;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the end may be in view after it has moved, too
  useEffect(() => {
    if (!hasMore) return;
    const observer = new IntersectionObserver(
      ([seen]) => seen!.isIntersecting && setCount((before) => before + rowsAtOnce),
      { rootMargin: "800px" },
    );
    observer.observe(end.current!);
    return () => observer.disconnect();
  }, [hasMore, count]);
  return (
    <div>
      <Table label="Files" head={["Name", "Size", "Changed", ""]} onlyWide={["Changed"]}>
        {entries.slice(0, count).map((entry) => (
          <Row key={entry.path} name={name} folder={folder} entry={entry} />
        ))}
      </Table>
      <div ref={end} />
    </div>
  );
}

interface RowProps {
  name: string;
  folder: string;
  entry: FileEntry;
}

function Row({ name, folder, entry }: RowProps) {
  const { type, size, modifiedAt, createdBy } = entry;
  const author = useAuthor()(createdBy);
  const Icon = type === "folder" ? Folder : type === "link" ? Link2 : File;
  const path = childOf(folder, entry.name);
  return (
    <tr className="hover:bg-sunken">
      <td className="min-w-40 !py-1 wrap-anywhere">
        <Link
          to="."
          search={searchFor(type === "folder" ? { path } : { file: path })}
          preload={false}
          className="hover:underline"
        >
          <span className="flex items-center gap-2">
            <Icon className={`size-4 shrink-0 ${type === "folder" ? "text-accent" : "text-muted"}`} aria-hidden />
            {entry.name}
          </span>
        </Link>
      </td>
      <td className="!py-1 whitespace-nowrap text-muted tabular-nums">{type === "file" && bytes(size)}</td>
      <td className="!py-1 whitespace-nowrap text-muted">
        <Time at={modifiedAt} />
        {author !== null && ` · ${author}`}
      </td>
      <td className="w-0 !py-0.5">
        <EntryMenu name={name} folder={folder} entry={entry} />
      </td>
    </tr>
  );
}
