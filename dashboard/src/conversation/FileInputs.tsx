import { Camera, Paperclip } from "lucide-react";
import { type DragEvent, type ReactNode, useRef, useState } from "react";
import { Button } from "../ui/Button.tsx";

export interface FilesProps {
  onFiles: (files: readonly File[]) => void;
}

/** The frame of a message, on which files can be dropped. */
export function DropZone({ onFiles, children }: FilesProps & { children: ReactNode }) {
  const [isOver, setIsOver] = useState(false);
  const over = (event: DragEvent) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    setIsOver(true);
  };
  const drop = (event: DragEvent) => {
    setIsOver(false);
    if (event.dataTransfer.files.length === 0) return;
    event.preventDefault();
    onFiles([...event.dataTransfer.files]);
  };
  return (
    <fieldset
      aria-label="New message"
      onDragOver={over}
      onDragLeave={() => setIsOver(false)}
      onDrop={drop}
      className={`flex flex-wrap items-end gap-2 rounded-2xl border border-line-strong bg-surface p-2 has-[textarea:focus-visible]:outline-2 has-[textarea:focus-visible]:outline-accent ${isOver ? "outline-2 outline-accent outline-dashed" : ""}`}
    >
      {children}
    </fieldset>
  );
}

/** Chooses files; on a phone, also takes a picture. */
export function FileButtons({ onFiles }: FilesProps) {
  return (
    <span className="flex">
      <FileButton label="Attach files" icon={<Paperclip className="size-4" aria-hidden />} onFiles={onFiles} />
      <span className="hidden pointer-coarse:inline">
        <FileButton
          label="Take a picture"
          icon={<Camera className="size-4" aria-hidden />}
          fromCamera
          onFiles={onFiles}
        />
      </span>
    </span>
  );
}

interface FileButtonProps extends FilesProps {
  label: string;
  icon: ReactNode;
  fromCamera?: boolean;
}

function FileButton({ label, icon, fromCamera = false, onFiles }: FileButtonProps) {
  const input = useRef<HTMLInputElement>(null);
  const source = fromCamera ? ({ accept: "image/*", capture: "environment" } as const) : { multiple: true };
  return (
    <>
      <input
        ref={input}
        type="file"
        hidden
        aria-label={`${label}: choose`}
        {...source}
        onChange={({ currentTarget }) => {
          onFiles([...(currentTarget.files ?? [])]);
          currentTarget.value = "";
        }}
      />
      <Button kind="quiet" aria-label={label} title={label} onClick={() => input.current?.click()}>
        {icon}
      </Button>
    </>
  );
}
