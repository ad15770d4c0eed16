import { z } from "zod";
import { AgentParams } from "./agents.ts";
import { CreatedBy } from "./authors.ts";
import { FilePath, maximumPath } from "./file-path.ts";
import { flag } from "./flag.ts";
import { TicketQuery } from "./tickets.ts";

/** The most entries on a page of a folder. */
const maximumEntries = 1_000;

export const FileParams = AgentParams.extend({
  path: FilePath.meta({
    description: "Absolute, or relative to the agent's home folder. `.` and `..` are resolved, and stay inside `/`.",
  }),
});

export const FileUser = z.enum(["agent", "root"]);
export type FileUser = z.infer<typeof FileUser>;

const UserQuery = z.strictObject({
  user: FileUser.default("agent").meta({ description: "The user in the machine whose permissions apply." }),
});

export const ReadQuery = UserQuery.extend({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(maximumEntries)
    .default(100)
    .meta({ description: "The page size, 1 to 1000." }),
  cursor: z
    .string()
    .min(1)
    .max(2 * maximumPath)
    .optional()
    .meta({ description: "The previous page's `nextCursor`." }),
  recursive: flag.meta({ description: "`true`: include the contents of subfolders." }),
  depth: z.coerce
    .number()
    .int()
    .min(1)
    .max(100)
    .default(100)
    .meta({ description: "With `recursive`: the number of levels, 1 to 100." }),
  stat: flag.meta({ description: "`true`: return the entry itself as JSON, not its contents." }),
  watch: flag.meta({ description: "`true`: an event stream of the changes to the folder or file." }),
  archive: z
    .enum(["tar", "tar.gz", "zip"])
    .optional()
    .meta({ description: "The format of a folder's archive. A link can set it where it cannot set `Accept`." }),
  ticket: TicketQuery,
});

export const WriteQuery = UserQuery.extend({
  mode: z
    .string()
    .regex(/^[0-7]{3,4}$/, "A mode is three or four octal digits, such as 755.")
    .optional()
    .meta({ description: "The file's mode, such as 755. Default: the mode of the file it replaces, or 644." }),
  extract: flag.meta({ description: "`true`: the body is a tar archive to unpack into the folder at the path." }),
});

export const ChangeQuery = UserQuery.extend({
  action: z.enum(["move", "copy", "mkdir"]),
  to: FilePath.min(1).optional().meta({ description: "With `move` and `copy`: the new path, which must not exist." }),
}).refine(({ action, to }) => (action === "mkdir") === (to === undefined), {
  message: "Set `to` for move and copy, and only for them.",
  path: ["to"],
});

export const RemoveQuery = UserQuery.extend({
  recursive: flag.meta({ description: "`true`: delete a folder with its contents." }),
});

export const FileType = z.enum(["file", "folder", "link", "fifo", "socket", "device"]);
export type FileType = z.infer<typeof FileType>;

const entityTag = z.string().max(200);
/** A strong entity tag from a machine, which goes into a header unchanged (RFC 9110, 8.8.3). */
export const givenTag = entityTag.regex(/^"[\x21\x23-\x7e]*"$/);

const entryFields = z.object({
  name: z.string().max(1_000).meta({ description: "Its last part. Invalid UTF-8 is replaced." }),
  path: z.string().meta({ description: "Relative to the listed folder; otherwise absolute." }),
  type: FileType,
  size: z.int().min(0).meta({ description: "Bytes." }),
  mode: z.string().max(4).meta({ description: "Octal digits, such as 0644." }),
  owner: z.string().max(256).meta({ description: "The user's name, or its number if it has no name." }),
  modifiedAt: z.iso.datetime(),
  target: z.string().nullable().meta({ description: "A link's target, as stored." }),
});

/** An entry as its machine describes it. Runners of older images send no tag. */
export const MachineEntry = entryFields.extend({ etag: givenTag.nullable().default(null) });
export type MachineEntry = z.infer<typeof MachineEntry>;

export const MachineFolderPage = z.object({
  data: z.array(MachineEntry).max(maximumEntries),
  nextCursor: z.string().nullable(),
});
export type MachineFolderPage = z.infer<typeof MachineFolderPage>;

export const FileEntry = entryFields
  .extend({
    createdBy: CreatedBy.meta({
      description: "The author of the bytes. Null for folders, and for files that a program in the machine wrote.",
    }),
  })
  .meta({ id: "FileEntry" });
export type FileEntry = z.infer<typeof FileEntry>;

const FolderPage = z
  .object({ data: z.array(FileEntry).max(maximumEntries), nextCursor: z.string().nullable() })
  .meta({ id: "FolderPage", description: "A folder's entries, sorted by the bytes of their names." });

export const FileOrFolder = z.union([FolderPage, FileEntry]).meta({ id: "FileOrFolder" });

export const WrittenFile = z
  .object({
    path: z.string().meta({ description: "Absolute." }),
    size: z.int().min(0).meta({ description: "Bytes received." }),
    sha256: z.string().meta({ description: "SHA-256 of the received bytes, in hexadecimal." }),
    created: z.boolean().meta({ description: "Whether nothing existed there before." }),
    etag: z.string().nullable().meta({ description: "Null for an unpacked archive." }),
  })
  .meta({ id: "WrittenFile" });
export type WrittenFile = z.infer<typeof WrittenFile>;

export const FileEvent = z
  .object({
    type: z.enum(["watching", "created", "changed", "deleted", "moved", "overflow"]).meta({
      description: "`watching` comes first. `overflow`: changes were lost.",
    }),
    path: z.string().meta({ description: "Absolute." }),
    from: z.string().nullable().meta({ description: "With `moved`: the former path, if it was watched." }),
  })
  .meta({ id: "FileEvent" });
export type FileEvent = z.infer<typeof FileEvent>;

/** A file as a request to a guest names it. */
export const FileTarget = z.object({ path: FilePath, user: FileUser });
export type FileTarget = z.infer<typeof FileTarget>;

/**
 * The entry at a path, after following links. A file of unknown length is read up to its end, as those of `/proc` and
 * `/sys`.
 */
export const StatResult = z.object({ entry: MachineEntry, etag: givenTag, hasLength: z.boolean().default(true) });
export type StatResult = z.infer<typeof StatResult>;

/** `after`: base64url of the path of the previous page's last entry. */
export const ListFolder = FileTarget.extend({
  limit: z.int().min(1).max(maximumEntries),
  after: z.string().nullable(),
  depth: z.int().min(1).max(100),
});
export type ListFolder = z.infer<typeof ListFolder>;

export const ChangeFile = z.discriminatedUnion("action", [
  FileTarget.extend({ action: z.literal("mkdir") }),
  FileTarget.extend({ action: z.enum(["move", "copy"]), to: FilePath }),
  FileTarget.extend({ action: z.literal("remove"), recursive: z.boolean() }),
]);
export type ChangeFile = z.infer<typeof ChangeFile>;

/**
 * `length` bytes from `start`, of the file with this entity tag. Without `etag`, of the current file. Without
 * `length`, all bytes in frames.
 */
export const ReadFile = FileTarget.extend({
  start: z.int().min(0),
  length: z.int().min(0).nullable(),
  etag: entityTag.nullable(),
});
export type ReadFile = z.infer<typeof ReadFile>;

/**
 * The file must have one of these entity tags, `*` for any file, or must not exist. `acceptsDownload`: the server accepts
 * an `OfferedDownload`.
 */
export const WriteFile = FileTarget.extend({
  acceptsDownload: z.boolean().optional(),
  mode: z.int().min(0).max(0o7777).nullable(),
  ifMatch: z.array(entityTag).max(20).nullable(),
  ifNoneMatch: z.boolean(),
});
export type WriteFile = z.infer<typeof WriteFile>;

const archiveKinds = ["tar", "tar.gz", "zip"] as const;

export const ArchiveFolder = FileTarget.extend({ kind: z.enum(archiveKinds) });
export type ArchiveFolder = z.infer<typeof ArchiveFolder>;

export const ExtractArchive = FileTarget.extend({ kind: z.enum(["tar", "tar.gz"]) });
export type ExtractArchive = z.infer<typeof ExtractArchive>;

export const WatchFiles = FileTarget.extend({ recursive: z.boolean() });
export type WatchFiles = z.infer<typeof WatchFiles>;

/** The most files of an unpacked archive whose author is kept. */
export const maximumUnpackedTags = 1_000;

/**
 * A guest's response at the end of an upload. `unpacked`: the entity tags of the files of an archive, if they are not too
 * many. Runners of older images do not send them.
 */
export const ReceivedFile = z.object({
  path: z.string(),
  created: z.boolean(),
  etag: givenTag.nullable(),
  unpacked: z.array(givenTag).max(maximumUnpackedTags).default([]),
});
export type ReceivedFile = z.input<typeof ReceivedFile>;

/**
 * A guest's first line in response to an upload, if the server accepts it: a download may bring the later bytes of this
 * stream. The trailer of the frames is then the number of bytes that came over it, or empty.
 */
export const OfferedDownload = z.object({ tunnel: z.string().max(64) });
export type OfferedDownload = z.infer<typeof OfferedDownload>;
