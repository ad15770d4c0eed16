import { RotateCw, X } from "lucide-react";
import { useState, useSyncExternalStore } from "react";
import { bytes } from "../agent/bytes.ts";
import { Button } from "../ui/Button.tsx";
import { folderOf, nameOf } from "./paths.ts";
import { type Choice, isActive, type Upload, uploads } from "./uploads.ts";

/** Rows that are shown; those that ask or are sent come first. */
const mostRows = 50;
const urgency: Readonly<Record<Upload["state"], number>> = {
  asking: 0,
  sending: 1,
  failed: 2,
  waiting: 3,
  done: 4,
  skipped: 5,
  cancelled: 5,
};

/** The uploads to an agent, below its views. */
export function UploadPanel({ agent }: { agent: string }) {
  const all = useSyncExternalStore(uploads.watch, uploads.current).filter((each) => each.agent === agent);
  const [forAll, setForAll] = useState(false);
  if (all.length === 0) return null;
  const rows = all.toSorted((one, other) => urgency[one.state] - urgency[other.state]).slice(0, mostRows);
  const open = all.filter(({ state }) => state === "asking" || state === "waiting").length;
  const asks = all.some(({ state }) => state === "asking");
  return (
    <section aria-label="Uploads" className="shrink-0 border-t bg-raised text-sm">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-1.5">
        <p role="status" className="mr-auto font-medium">
          {summaryOf(all)}
        </p>
        {asks && open > 1 && (
          <label className="flex items-center gap-2">
            <input type="checkbox" checked={forAll} onChange={({ target }) => setForAll(target.checked)} />
            Same for all {open}
          </label>
        )}
        {!all.some(isActive) && (
          <Button kind="quiet" aria-label="Close uploads" onClick={() => uploads.dismiss(agent)}>
            <X className="size-4" aria-hidden />
          </Button>
        )}
      </div>
      <ul className="max-h-48 overflow-auto px-4 pb-2" aria-label="Uploaded files">
        {rows.map((upload) => (
          <Row key={upload.id} upload={upload} onChoose={(choice) => uploads.choose(upload, choice, forAll)} />
        ))}
        {all.length > rows.length && <li className="py-1 text-muted">{all.length - rows.length} more</li>}
      </ul>
    </section>
  );
}

function summaryOf(all: readonly Upload[]): string {
  const count = (state: Upload["state"]) => all.filter((each) => each.state === state).length;
  const left = all.filter(isActive).length;
  const ended = all.length - left;
  const failed = count("failed");
  const failures = failed === 0 ? "" : `, ${failed} failed`;
  if (left > 0) return `Uploading: ${ended} of ${all.length} files${failures}`;
  const done = count("done");
  return `${done === 1 ? "1 file" : `${done} files`} uploaded${failures}`;
}

function Row({ upload, onChoose }: { upload: Upload; onChoose: (choice: Choice) => void }) {
  const { path, file, sent, state, error } = upload;
  const name = nameOf(path);
  return (
    <li aria-label={name} className="flex flex-wrap items-center gap-x-3 gap-y-1 border-t py-1 first:border-t-0">
      <span className="min-w-0 flex-1 basis-40 wrap-anywhere">
        {name} <span className="text-muted">in {folderOf(path) || "home"}</span>
      </span>
      {state === "sending" && (
        <>
          <progress aria-label={`Progress of ${name}`} max={file.size || 1} value={sent} className="h-1.5 w-28" />
          <span className="w-10 text-right tabular-nums">{percent(sent, file.size)}</span>
        </>
      )}
      <span className="whitespace-nowrap text-muted tabular-nums">{bytes(file.size)}</span>
      <State upload={upload} />
      {state === "asking" && <Question name={name} onChoose={onChoose} />}
      {error !== null && <span className="basis-full text-bad wrap-anywhere">{error}</span>}
    </li>
  );
}

function percent(sent: number, size: number): string {
  // The server has not answered yet.
  return `${size === 0 ? 99 : Math.min(99, Math.floor((sent / size) * 100))} %`;
}

const words = { done: "Uploaded", skipped: "Skipped", cancelled: "Cancelled", waiting: "Waiting" } as const;

function State({ upload }: { upload: Upload }) {
  const { state, path } = upload;
  return (
    <>
      {state in words && <span className="text-muted">{words[state as keyof typeof words]}</span>}
      {(state === "failed" || state === "cancelled") && (
        <Button kind="quiet" aria-label={`Retry ${nameOf(path)}`} onClick={() => uploads.retry(upload)}>
          <RotateCw className="size-4" aria-hidden /> Retry
        </Button>
      )}
      {isActive(upload) && (
        <Button kind="quiet" aria-label={`Cancel ${nameOf(path)}`} onClick={() => uploads.cancel(upload)}>
          Cancel
        </Button>
      )}
    </>
  );
}

function Question({ name, onChoose }: { name: string; onChoose: (choice: Choice) => void }) {
  return (
    <fieldset aria-label={`${name} already exists`} className="flex basis-full flex-wrap items-center gap-2">
      <span className="text-warn">A file named {name} already exists.</span>
      <Button onClick={() => onChoose("replace")}>Replace</Button>
      <Button onClick={() => onChoose("keep")}>Keep both</Button>
      <Button onClick={() => onChoose("skip")}>Skip</Button>
    </fieldset>
  );
}
