import type { FileEntry } from "@berth/client";
import { useQueryClient } from "@tanstack/react-query";
import { Download, FolderPlus, Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import { berth } from "../api/client.ts";
import { folderQuery } from "../api/queries.ts";
import { Button } from "../ui/Button.tsx";
import { Confirm } from "../ui/Confirm.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { DialogEnd } from "../ui/DialogEnd.tsx";
import { Field, Input } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { messageOf } from "../ui/message.ts";
import { useAction } from "../ui/use-action.ts";
import { useMay } from "../workspace/use-may.ts";
import { childOf } from "./paths.ts";
import { download } from "./save-as.ts";

interface EntryProps {
  name: string;
  folder: string;
  entry: FileEntry;
}

/** The actions for a file or folder. */
export function EntryActions({ name, folder, entry }: EntryProps) {
  const mayUse = useMay("use");
  const path = childOf(folder, entry.name);
  const save = useAction(async () => {
    const options = entry.type === "folder" ? { archive: "zip" as const } : {};
    download(await berth.agent(name).files.downloadUrl(path, options));
  });
  return (
    <div className="flex items-center justify-end">
      {save.error !== null && <span className="text-[13px] text-bad">{messageOf(save.error)}</span>}
      <Button kind="quiet" aria-label={`Download ${entry.name}`} isBusy={save.isBusy} onClick={() => save.run()}>
        <Download className="size-4" aria-hidden />
      </Button>
      {mayUse && <EntryChanges name={name} folder={folder} entry={entry} />}
    </div>
  );
}

function EntryChanges({ name, folder, entry }: EntryProps) {
  const queries = useQueryClient();
  const [isRenaming, setRenaming] = useState(false);
  const files = berth.agent(name).files;
  const path = childOf(folder, entry.name);
  const isFolder = entry.type === "folder";
  const refresh = () => queries.invalidateQueries({ queryKey: folderQuery(name, folder).queryKey });
  return (
    <>
      <Button kind="quiet" aria-label={`Rename ${entry.name}`} onClick={() => setRenaming(true)}>
        <Pencil className="size-4" aria-hidden />
      </Button>
      <Confirm
        trigger={(open) => (
          <Button kind="quiet" aria-label={`Delete ${entry.name}`} onClick={open}>
            <Trash2 className="size-4" aria-hidden />
          </Button>
        )}
        title={`Delete ${entry.name}?`}
        action="Delete"
        onConfirm={async () => {
          await files.remove(path, { recursive: isFolder });
          await refresh();
        }}
      >
        {isFolder ? "Everything in this folder is deleted." : "The file is deleted."} This cannot be undone.
      </Confirm>
      {isRenaming && (
        <NameDialog
          title={`Rename ${entry.name}`}
          initial={entry.name}
          action="Rename"
          onClose={() => setRenaming(false)}
          onNamed={async (next) => {
            await files.move(path, childOf(folder, next));
            await refresh();
          }}
        />
      )}
    </>
  );
}

export function NewFolder({ name, folder, onDone }: { name: string; folder: string; onDone: () => Promise<unknown> }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>
        <FolderPlus className="size-4" aria-hidden /> New folder
      </Button>
      {isOpen && (
        <NameDialog
          title="New folder"
          initial=""
          action="Make it"
          onClose={() => setOpen(false)}
          onNamed={async (next) => {
            await berth.agent(name).files.mkdir(childOf(folder, next));
            await onDone();
          }}
        />
      )}
    </>
  );
}

interface NameDialogProps {
  title: string;
  initial: string;
  action: string;
  onClose: () => void;
  onNamed: (name: string) => Promise<unknown>;
}

function NameDialog({ title, initial, action, onClose, onNamed }: NameDialogProps) {
  const [text, setText] = useState(initial);
  const save = useAction(async () => {
    await onNamed(text.trim());
    onClose();
  });
  return (
    <Dialog isOpen onClose={onClose} title={title}>
      <Form onSubmit={() => save.run()}>
        <Field label="Name" error={save.error === null ? null : messageOf(save.error)}>
          {(props) => (
            <Input
              {...props}
              value={text}
              autoComplete="off"
              required
              onChange={(event) => setText(event.target.value)}
            />
          )}
        </Field>
        <DialogEnd of={{ isBusy: save.isBusy }} action={action} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}
