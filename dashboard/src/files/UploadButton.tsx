import { useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { berth } from "../api/client.ts";
import { folderQuery } from "../api/queries.ts";
import { Button } from "../ui/Button.tsx";
import { Failure } from "../ui/Failure.tsx";
import { useAction } from "../ui/use-action.ts";
import { childOf } from "./paths.ts";

export function UploadButton({ name, folder }: { name: string; folder: string }) {
  const queries = useQueryClient();
  const picker = useRef<HTMLInputElement>(null);
  const upload = useAction(async (files: readonly File[]) => {
    for (const file of files) await berth.agent(name).files.write(childOf(folder, file.name), file);
    await queries.invalidateQueries({ queryKey: folderQuery(name, folder).queryKey });
  });
  return (
    <>
      <Button isBusy={upload.isBusy} onClick={() => picker.current?.click()}>
        Upload
      </Button>
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
      <Failure of={upload.error} />
    </>
  );
}
