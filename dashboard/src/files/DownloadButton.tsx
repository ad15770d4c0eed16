import { Download } from "lucide-react";
import { download } from "../agent/save-as.ts";
import { berth } from "../api/client.ts";
import { Button } from "../ui/Button.tsx";
import { Failure } from "../ui/Failure.tsx";
import { useAction } from "../ui/use-action.ts";
import { nameOf } from "./paths.ts";

/** Lets the browser download a file. */
export function DownloadButton({ name, path }: { name: string; path: string }) {
  const save = useAction(async () => download(await berth.agent(name).files.downloadUrl(path)));
  return (
    <>
      <Failure of={save.error} />
      <Button kind="quiet" aria-label={`Download ${nameOf(path)}`} isBusy={save.isBusy} onClick={() => save.run()}>
        <Download className="size-4" aria-hidden />
        <span className="hidden sm:inline">Download</span>
      </Button>
    </>
  );
}
