/** The most files of one drop. */
const mostFiles = 2_000;

interface DroppedFile {
  /** With the folders that were dropped, as in `photos/2026/a.jpg`. */
  name: string;
  file: File;
}

/** The files of a drop, with those in dropped folders. Call it in the event: a browser empties the transfer after that. */
export async function droppedFiles(transfer: DataTransfer): Promise<DroppedFile[]> {
  const entries = [...transfer.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  if (entries.length === 0) return [...transfer.files].map((file) => ({ name: file.name, file }));
  const files: DroppedFile[] = [];
  for (const entry of entries) await collect(entry, "", files);
  return files;
}

async function collect(entry: FileSystemEntry, folder: string, into: DroppedFile[]): Promise<void> {
  const name = folder + entry.name;
  if (isFile(entry)) {
    if (into.length === mostFiles) {
      throw new Error(`A drop has up to ${mostFiles.toLocaleString("en")} files. Use berth cp for more.`);
    }
    into.push({ name, file: await new Promise<File>((resolve, reject) => entry.file(resolve, reject)) });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    // A reader returns a part of the entries at a time.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return;
    for (const each of some) await collect(each, `${name}/`, into);
  }
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile;
}
