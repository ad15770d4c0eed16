import { z } from "zod";
import { FileEdit, maximumRevertedFiles } from "./changes.ts";
import {
  ArchiveFolder,
  ChangeFile,
  ExtractArchive,
  FileEvent,
  FileTarget,
  givenTag,
  ListFolder,
  MachineEntry,
  MachineFolderPage,
  ReadFile,
  StatResult,
  WatchFiles,
  WriteFile,
} from "./files.ts";
import { GuestRefusalCode } from "./guest.ts";
import { type CallTable, call, duplex, fewBytes, filesMs, lines, mostBytes } from "./guest-call.ts";

/** For a copy or removal of a whole tree. */
const changeMs = 600_000;

/** `etag`: of the file after the edit; null for a deleted one. */
const EditedFile = FileEdit.pick({ name: true, change: true }).extend({ etag: givenTag.nullable() });
const EditFault = FileEdit.pick({ name: true }).extend({ code: GuestRefusalCode, message: z.string().max(10_000) });
export type EditResult = { edited: z.infer<typeof EditedFile>[]; faults: z.infer<typeof EditFault>[] };

/** The calls about files. Each fails with the codes of files in `errors.ts`. */
export const guestFileCalls = {
  /** The entry at a path, after following links. */
  statFile: call({
    request: FileTarget,
    response: StatResult,
    timeoutMs: filesMs,
    maximumBytes: fewBytes,
  }),
  listFolder: call({
    request: ListFolder,
    response: MachineFolderPage,
    timeoutMs: filesMs,
    maximumBytes: ({ limit }) => Math.min(mostBytes, (limit + 1) * fewBytes),
  }),
  /** Creates a folder with its parents; moves, copies or removes the entry at a path. */
  changeFile: call({
    request: ChangeFile,
    response: z.object({ entry: MachineEntry.nullable() }),
    timeoutMs: changeMs,
    maximumBytes: fewBytes,
  }),
  /**
   * The requested bytes, in frames if their number is unknown. If a file shrinks during the read, the response ends
   * early.
   */
  readFile: duplex({ request: ReadFile }),
  /**
   * The entry at a path, as a line (`StatResult`), and the bytes of a regular file: as many as its size, or in frames if
   * their number is unknown. Runners of older images do not have this call.
   */
  openFile: duplex({ request: FileTarget }),
  /**
   * Frames of bytes (`core/frames.ts`) for a file, which is replaced when the last has arrived. The response is a line:
   * `ReceivedFile`, or a `GuestFault`.
   */
  writeFile: duplex({ request: WriteFile }),
  /**
   * Changes text files of the home, all or none, unless a write fails: `edited` are those before it. A file that is not as
   * the change requires is in `faults`. Runners of older images do not have this call.
   */
  editFiles: call({
    request: z.object({ edits: z.array(FileEdit).max(maximumRevertedFiles) }),
    response: z.object({
      edited: z.array(EditedFile).max(maximumRevertedFiles),
      faults: z.array(EditFault).max(maximumRevertedFiles),
    }),
    timeoutMs: filesMs,
    maximumBytes: mostBytes,
  }),
  /** Frames of an archive. Without the last frame, the archive is incomplete. */
  archiveFolder: duplex({ request: ArchiveFolder }),
  /** Frames of an archive to unpack into a folder. The response is as for `writeFile`. */
  extractArchive: duplex({ request: ExtractArchive }),
  /** Changes, after a first item `watching`, until the server disconnects. */
  watchFiles: lines({ request: WatchFiles, item: FileEvent }),
} as const satisfies CallTable;
