import type { FileEntry } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import { RefreshCw, Search } from "lucide-react";
import { useState } from "react";
import { folderQuery } from "../api/queries.ts";
import { Button } from "../ui/Button.tsx";
import { CopyButton } from "../ui/CopyButton.tsx";
import { Input } from "../ui/Field.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { Empty } from "../ui/Notice.tsx";
import { useMay } from "../workspace/use-may.ts";
import { Crumbs } from "./Crumbs.tsx";
import { DisplayMenu } from "./DisplayMenu.tsx";
import { FileTable } from "./FileTable.tsx";
import { NewEntry } from "./NewEntry.tsx";
import { UploadButton } from "./UploadButton.tsx";
import { type Display, displayed } from "./use-display.ts";

interface FolderProps {
  name: string;
  path: string;
  display: Display;
  onQuickOpen: () => void;
}

/** The entries of a folder. */
export function FolderPage({ name, path, display, onQuickOpen }: FolderProps) {
  const query = useQuery(folderQuery(name, path));
  const [filter, setFilter] = useState("");
  const mayUse = useMay("use");
  return (
    <section aria-label="Folder" className="grid min-h-0 flex-1 content-start gap-3 overflow-auto px-4 py-4 @3xl:px-6">
      <div className="flex flex-wrap items-center gap-2">
        <div className="mr-auto flex min-w-0 flex-wrap items-center">
          <Crumbs path={path} />
          <CopyButton text={path === "" ? "~" : path} label="Copy the path" isSmall />
        </div>
        <Button kind="quiet" title="Open a file by its name (Ctrl-P)" onClick={onQuickOpen}>
          <Search className="size-4" aria-hidden /> Quick open
        </Button>
        <Button
          kind="quiet"
          aria-label="Refresh"
          title="Refresh"
          isBusy={query.isFetching}
          onClick={() => void query.refetch()}
        >
          {!query.isFetching && <RefreshCw className="size-4" aria-hidden />}
        </Button>
        <DisplayMenu display={display} />
        {mayUse && <NewEntry name={name} folder={path} />}
        {mayUse && <UploadButton name={name} folder={path} />}
      </div>
      <Loaded query={query} missing={<Empty title="Folder not found">It may have been moved or deleted.</Empty>}>
        {({ data, nextCursor }) => (
          <Entries
            name={name}
            path={path}
            entries={data}
            isCut={nextCursor !== null}
            display={display}
            filter={filter}
            onFilter={setFilter}
          />
        )}
      </Loaded>
    </section>
  );
}

interface EntriesProps {
  name: string;
  path: string;
  entries: readonly FileEntry[];
  isCut: boolean;
  display: Display;
  filter: string;
  onFilter: (text: string) => void;
}

function Entries({ name, path, entries, isCut, display, filter, onFilter }: EntriesProps) {
  const mayUse = useMay("use");
  const visible = displayed(entries, display);
  const hidden = entries.length - visible.length;
  const wanted = filter.trim().toLowerCase();
  const matching = visible.filter((entry) => entry.name.toLowerCase().includes(wanted));
  if (entries.length === 0) {
    return <Empty title="This folder is empty">{mayUse && "Drop files here to upload them."}</Empty>;
  }
  return (
    <>
      {entries.length > 8 && (
        <Input
          type="search"
          aria-label="Filter by name"
          placeholder="Filter by name"
          maxLength={200}
          className="sm:max-w-64"
          value={filter}
          onChange={({ target }) => onFilter(target.value)}
        />
      )}
      {matching.length > 0 && (
        <FileTable key={`${wanted} ${display.order}`} name={name} folder={path} entries={matching} />
      )}
      {matching.length === 0 && wanted !== "" && <Empty title="No matching files" />}
      {isCut && (
        <p className="text-sm text-muted">Only the first {entries.length.toLocaleString("en")} entries are listed.</p>
      )}
      {hidden > 0 && (
        <p className="text-sm text-muted">
          {hidden === 1 ? "1 hidden entry" : `${hidden.toLocaleString("en")} hidden entries`}.{" "}
          <button type="button" className="underline" onClick={() => display.setShowsHidden(true)}>
            Show hidden files
          </button>
        </p>
      )}
    </>
  );
}
