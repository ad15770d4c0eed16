import { type DragEvent, type ReactNode, useState } from "react";
import { Failure } from "../ui/Failure.tsx";
import { useAction } from "../ui/use-action.ts";
import { useMay } from "../workspace/use-may.ts";
import { droppedFiles } from "./dropped-files.ts";
import { uploads } from "./uploads.ts";

interface DropTargetProps {
  name: string;
  folder: string;
  children: ReactNode;
}

/** A view on which files and folders can be dropped: they are uploaded, even over an editor. */
export function DropTarget({ name, folder, children }: DropTargetProps) {
  const mayUse = useMay("use");
  const [isOver, setOver] = useState(false);
  const drop = useAction(async (transfer: DataTransfer) => uploads.add(name, folder, await droppedFiles(transfer)));
  const isMeant = ({ dataTransfer }: DragEvent) => mayUse && dataTransfer.types.includes("Files");
  return (
    <section
      aria-label="Files of the agent"
      className="@container relative flex min-h-0 flex-1 flex-col"
      onDragOverCapture={(event) => {
        if (!isMeant(event)) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={({ relatedTarget, currentTarget }) => {
        if (!currentTarget.contains(relatedTarget as Node | null)) setOver(false);
      }}
      onDropCapture={(event) => {
        if (!isMeant(event)) return;
        event.preventDefault();
        event.stopPropagation();
        setOver(false);
        drop.run(event.dataTransfer);
      }}
    >
      <Failure of={drop.error} />
      {children}
      {isOver && (
        <div className="pointer-events-none absolute inset-2 z-30 grid place-content-center rounded-xl border-2 border-dashed border-accent bg-accent-soft/80">
          <p className="font-medium">Drop to upload to {folder === "" ? "home" : folder}</p>
        </div>
      )}
    </section>
  );
}
