import { lazy, Suspense, useState } from "react";
import { useAgentName } from "../agent/agent-name.ts";
import { DropTarget } from "./DropTarget.tsx";
import { FilePage } from "./FilePage.tsx";
import { FolderPage } from "./FolderPage.tsx";
import { FolderTree } from "./FolderTree.tsx";
import { folderOf } from "./paths.ts";
import { useFilePlace } from "./place.ts";
import { useDisplay } from "./use-display.ts";
import { useFresh } from "./use-fresh.ts";
import { useQuickOpenKey } from "./use-quick-open-key.ts";

const QuickOpen = lazy(async () => ({ default: (await import("./QuickOpen.tsx")).QuickOpen }));

/** The files in the agent's machine, which is woken to show them: a folder or one file, and a tree where it fits. */
export function Files() {
  const name = useAgentName();
  const { path = "", file } = useFilePlace();
  const display = useDisplay();
  const [isQuickOpen, setQuickOpen] = useState(false);
  const folder = file === undefined ? path : folderOf(file);
  useFresh(name);
  useQuickOpenKey(() => setQuickOpen(true));
  return (
    <DropTarget name={name} folder={folder}>
      <div className="flex min-h-0 flex-1">
        <FolderTree name={name} folder={folder} file={file} showsHidden={display.showsHidden} />
        <div className="flex min-h-0 min-w-0 flex-1 flex-col">
          {file === undefined ? (
            <FolderPage
              key={`${name} ${path}`}
              name={name}
              path={path}
              display={display}
              onQuickOpen={() => setQuickOpen(true)}
            />
          ) : (
            <FilePage key={`${name} ${file}`} name={name} path={file} />
          )}
        </div>
      </div>
      <Suspense>{isQuickOpen && <QuickOpen name={name} onClose={() => setQuickOpen(false)} />}</Suspense>
    </DropTarget>
  );
}
