import { saveAs } from "../agent/save-as.ts";
import { Button } from "./Button.tsx";
import { useAction } from "./use-action.ts";

/** The headers of a request for CSV. */
export const asCsv = { accept: "text/csv" };

/** Downloads what `request` answers. `file`: its name. */
export function useCsv(file: string, request: () => Promise<Response>) {
  return useAction(async () => saveAs(await (await request()).blob(), file));
}

export function CsvButton({ of: download }: { of: ReturnType<typeof useCsv> }) {
  return (
    <Button isBusy={download.isBusy} onClick={() => download.run()}>
      Download as CSV
    </Button>
  );
}
