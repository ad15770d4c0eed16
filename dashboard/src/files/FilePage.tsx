import { useQuery } from "@tanstack/react-query";
import { Navigate } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense } from "react";
import { isMissing } from "../api/client.ts";
import { runningQuery } from "../api/queries.ts";
import { Loaded } from "../ui/Loaded.tsx";
import { Empty, Loading, Notice } from "../ui/Notice.tsx";
import { DownloadButton } from "./DownloadButton.tsx";
import { FileHeader } from "./FileHeader.tsx";
import { fileQuery, type OpenedFile } from "./file-query.ts";
import { Picture } from "./Picture.tsx";
import { nameOf } from "./paths.ts";
import { searchFor } from "./place.ts";

const TextFile = lazy(async () => ({ default: (await import("./TextFile.tsx")).TextFile }));

/** How often an open file is compared with the agent's while the agent works. */
const watchMs = 3_000;

interface FileProps {
  name: string;
  path: string;
}

/** One file: a text in an editor, or a picture. Anything else can be downloaded. */
export function FilePage({ name, path }: FileProps) {
  const { data: running = [] } = useQuery(runningQuery);
  const isWorking = running.some(({ agent }) => agent === name);
  const query = useQuery({ ...fileQuery(name, path), refetchInterval: isWorking ? watchMs : false });
  const isDeleted = isMissing(query.error);
  const gone = (
    <Empty title="File not found">
      {name} has no file {path}. It may have been moved or deleted.
    </Empty>
  );
  if (query.data === undefined) {
    return (
      <Framed path={path}>
        <Loaded query={query} missing={gone}>
          {() => null}
        </Loaded>
      </Framed>
    );
  }
  return <Shown name={name} path={path} file={query.data} isDeleted={isDeleted} />;
}

function Shown({ name, path, file, isDeleted }: FileProps & { file: OpenedFile; isDeleted: boolean }) {
  const { shown } = file;
  switch (shown.kind) {
    case "folder":
      return <Navigate to="." search={searchFor({ path })} replace />;
    case "text":
      return (
        <Suspense
          fallback={
            <Framed path={path}>
              <Loading />
            </Framed>
          }
        >
          <TextFile name={name} path={path} opened={file} text={shown.text} isDeleted={isDeleted} />
        </Suspense>
      );
    default:
      return (
        <Framed path={path} actions={file.entry.type === "file" && <DownloadButton name={name} path={path} />}>
          {isDeleted && <Notice tone="warn" title="This file was deleted on the agent's machine" />}
          {shown.kind === "picture" ? (
            <Picture blob={shown.blob} alt={nameOf(path)} />
          ) : (
            <Empty title="No preview">{shown.reason}</Empty>
          )}
        </Framed>
      );
  }
}

interface FramedProps {
  path: string;
  actions?: ReactNode;
  children: ReactNode;
}

function Framed({ path, actions, children }: FramedProps) {
  return (
    <>
      <FileHeader path={path}>{actions}</FileHeader>
      <div className="grid min-h-0 flex-1 content-start gap-4 overflow-auto p-4">{children}</div>
    </>
  );
}
