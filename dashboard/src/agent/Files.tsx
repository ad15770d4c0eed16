import type { FileEntry } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { File, Folder, Link2 } from "lucide-react";
import { type DragEvent, useRef, useState } from "react";
import { berth } from "../api/client.ts";
import { folderQuery } from "../api/queries.ts";
import { Button } from "../ui/Button.tsx";
import { classes } from "../ui/classes.ts";
import { Failure } from "../ui/Failure.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { Empty } from "../ui/Notice.tsx";
import { Table } from "../ui/Table.tsx";
import { Time } from "../ui/Time.tsx";
import { useAction } from "../ui/use-action.ts";
import { useAuthor } from "../workspace/use-author.ts";
import { useMay } from "../workspace/use-may.ts";
import { useAgentName } from "./agent-name.ts";
import { bytes } from "./bytes.ts";
import { FileView } from "./FileView.tsx";
import { EntryActions, NewFolder } from "./file-actions.tsx";
import { childOf, crumbsOf } from "./paths.ts";
import { Tab } from "./Tab.tsx";

/** The files in the agent's machine, which is woken to show them. */
export function Files() {
  const name = useAgentName();
  const { path = "" } = useSearch({ from: "/shell/agents/$name/files" });
  const [open, setOpen] = useState<FileEntry | null>(null);
  const query = useQuery(folderQuery(name, path));
  const mayUse = useMay("use");
  return (
    <Tab>
      <Dropzone key={path} name={name} path={path}>
        <Loaded query={query}>
          {({ data, nextCursor }) => (
            <>
              {data.length === 0 ? (
                <Empty title="This folder is empty">{mayUse && "Drop files here to upload them."}</Empty>
              ) : (
                <Table label="Files" head={["Name", "Size", "Changed", ""]} onlyWide={["Changed"]}>
                  {data.map((entry) => (
                    <Row key={entry.path} name={name} folder={path} entry={entry} onOpen={setOpen} />
                  ))}
                </Table>
              )}
              {nextCursor !== null && <p className="text-sm text-muted">There are more than {data.length} entries.</p>}
            </>
          )}
        </Loaded>
      </Dropzone>
      {open && <FileView key={open.path} name={name} entry={open} onClose={() => setOpen(null)} />}
    </Tab>
  );
}

/** A folder's place and content. Files that are dropped on it are uploaded. */
function Dropzone({ name, path, children }: { name: string; path: string; children: React.ReactNode }) {
  const queries = useQueryClient();
  const picker = useRef<HTMLInputElement>(null);
  const mayUse = useMay("use");
  const [isOver, setOver] = useState(false);
  const refresh = () => queries.invalidateQueries({ queryKey: folderQuery(name, path).queryKey });
  const upload = useAction(async (files: readonly File[]) => {
    for (const file of files) await berth.agent(name).files.write(childOf(path, file.name), file);
    await refresh();
  });
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    if (mayUse) upload.run([...event.dataTransfer.files]);
  };
  return (
    <section
      aria-label="Folder"
      className={classes("grid gap-3 rounded-xl", isOver && "outline-2 outline-accent outline-dashed outline-offset-8")}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(mayUse);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <div className="flex flex-wrap items-center gap-2">
        <Crumbs name={name} path={path} />
        {mayUse && (
          <>
            <NewFolder name={name} folder={path} onDone={refresh} />
            <Button isBusy={upload.isBusy} onClick={() => picker.current?.click()}>
              Upload
            </Button>
          </>
        )}
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          aria-label="Files to upload"
          onChange={({ target }) => {
            upload.run([...(target.files ?? [])]);
            target.value = "";
          }}
        />
      </div>
      <Failure of={upload.error} />
      {children}
    </section>
  );
}

function Crumbs({ name, path }: { name: string; path: string }) {
  return (
    <nav aria-label="Folders" className="mr-auto flex min-w-0 flex-wrap items-center gap-1 text-sm">
      {crumbsOf(path).map(({ label, path: to }, at) => (
        <span key={to} className="flex items-center gap-1">
          {at > 0 && <span className="text-muted">/</span>}
          <Link
            to="/agents/$name/files"
            params={{ name }}
            search={to === "" ? {} : { path: to }}
            activeOptions={{ exact: true, includeSearch: true }}
            className="rounded px-1 py-0.5 hover:bg-sunken"
            activeProps={{ className: "font-medium" }}
          >
            {label}
          </Link>
        </span>
      ))}
    </nav>
  );
}

interface RowProps {
  name: string;
  folder: string;
  entry: FileEntry;
  onOpen: (entry: FileEntry) => void;
}

function Row({ name, folder, entry, onOpen }: RowProps) {
  const { type, size, modifiedAt, createdBy } = entry;
  const author = useAuthor()(createdBy);
  const Icon = type === "folder" ? Folder : type === "link" ? Link2 : File;
  const look = "flex items-center gap-2 text-left hover:underline";
  return (
    <tr className="hover:bg-sunken">
      <td className="min-w-40 wrap-anywhere">
        {type === "folder" ? (
          <Link
            to="/agents/$name/files"
            params={{ name }}
            search={{ path: childOf(folder, entry.name) }}
            className={classes(look, "font-medium")}
          >
            <Icon className="size-4 shrink-0 text-accent" aria-hidden />
            {entry.name}
          </Link>
        ) : (
          <button type="button" onClick={() => onOpen(entry)} className={look}>
            <Icon className="size-4 shrink-0 text-muted" aria-hidden />
            {entry.name}
          </button>
        )}
      </td>
      <td className="whitespace-nowrap text-muted">{type === "file" && bytes(size)}</td>
      <td className="whitespace-nowrap text-muted">
        <Time at={modifiedAt} />
        {author !== null && ` · ${author}`}
      </td>
      <td className="w-0">
        <EntryActions name={name} folder={folder} entry={entry} />
      </td>
    </tr>
  );
}
