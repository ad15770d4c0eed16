import { useQueryClient } from "@tanstack/react-query";
import { FilePlus, FolderPlus } from "lucide-react";
import { useState } from "react";
import { berth, isRefusal } from "../api/client.ts";
import { folderQuery } from "../api/queries.ts";
import { Button } from "../ui/Button.tsx";
import { NameDialog } from "./NameDialog.tsx";
import { childOf } from "./paths.ts";
import { useGoToFiles } from "./place.ts";

/** Buttons that make a file, which is opened, and a folder. */
export function NewEntry({ name, folder }: { name: string; folder: string }) {
  const queries = useQueryClient();
  const goTo = useGoToFiles();
  const [made, setMade] = useState<"file" | "folder" | null>(null);
  const files = berth.agent(name).files;
  const refresh = () => queries.invalidateQueries({ queryKey: folderQuery(name, folder).queryKey });
  const makeFolder = async (next: string) => {
    await files.mkdir(childOf(folder, next));
    await refresh();
  };
  const makeFile = async (next: string) => {
    const file = childOf(folder, next);
    await files.write(file, "", { headers: { "if-none-match": "*" } }).catch((error: unknown) => {
      throw isRefusal(error, "precondition_failed") ? new Error(`${next} already exists. Choose another name.`) : error;
    });
    void refresh();
    goTo({ file });
  };
  return (
    <>
      <Button onClick={() => setMade("file")}>
        <FilePlus className="size-4" aria-hidden /> New file
      </Button>
      <Button onClick={() => setMade("folder")}>
        <FolderPlus className="size-4" aria-hidden /> New folder
      </Button>
      {made !== null && (
        <NameDialog
          title={made === "file" ? "New file" : "New folder"}
          initial=""
          action="Create"
          onClose={() => setMade(null)}
          onNamed={made === "file" ? makeFile : makeFolder}
        />
      )}
    </>
  );
}
