import { type ReactNode, useEffect, useRef } from "react";
import { CopyButton } from "../ui/CopyButton.tsx";
import { Crumbs } from "./Crumbs.tsx";
import { folderOf, nameOf } from "./paths.ts";

/** The path of an open file, and what can be done with it. The focus goes to its name, from the row that was pressed. */
export function FileHeader({ path, children }: { path: string; children?: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (document.activeElement === document.body) heading.current?.focus();
  }, []);
  return (
    <div className="flex flex-wrap items-center gap-x-2 gap-y-1 border-b px-3 py-1.5 md:px-4">
      <div className="mr-auto flex min-w-0 flex-wrap items-center gap-x-1">
        <Crumbs path={folderOf(path)} />
        <span className="text-sm text-muted">/</span>
        <h2 ref={heading} tabIndex={-1} className="text-sm font-medium outline-none wrap-anywhere">
          {nameOf(path)}
        </h2>
        <CopyButton text={path} label="Copy the path" isSmall />
      </div>
      <div className="flex flex-wrap items-center gap-1">{children}</div>
    </div>
  );
}
