import { Upload } from "lucide-react";
import { useRef } from "react";
import { Button } from "../ui/Button.tsx";
import { uploads } from "./uploads.ts";

/** Chooses files, which are uploaded to a folder. */
export function UploadButton({ name, folder }: { name: string; folder: string }) {
  const picker = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button onClick={() => picker.current?.click()}>
        <Upload className="size-4" aria-hidden /> Upload
      </Button>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        aria-label="Files to upload"
        onChange={({ target }) => {
          uploads.add(
            name,
            folder,
            [...(target.files ?? [])].map((file) => ({ name: file.name, file })),
          );
          target.value = "";
        }}
      />
    </>
  );
}
