import { z } from "zod";

/** The most files that a turn's changes list. */
export const maximumChangedFiles = 2_000;
/** The most files of a turn that lists of turns show. */
export const listedFiles = 20;
/** The longest path that is listed, in UTF-16 units; the kernel's limit is 4,096 bytes. */
const maximumPath = 4_096;

export const FileChange = z
  .object({
    name: z.string().max(maximumPath).meta({ description: "The path, from the agent's home." }),
    change: z.enum(["created", "changed", "deleted"]),
    size: z.int().min(0).nullable().meta({ description: "In bytes, after the turn; null for a deleted file." }),
    hash: z.string().max(64).nullable().meta({
      description: "SHA-256 of the file after the turn, in hexadecimal; null for a deleted or a very large file.",
    }),
  })
  .meta({ id: "FileChange" });
export type FileChange = z.infer<typeof FileChange>;

const count = z.int().min(0);

export const TurnChanges = z
  .object({
    created: count,
    changed: count,
    deleted: count,
    files: z
      .array(FileChange)
      .max(maximumChangedFiles)
      .meta({
        description: `Sorted by name. At most ${maximumChangedFiles}; in lists of turns at most ${listedFiles}.`,
      }),
    cut: z.boolean().meta({ description: "Whether `files` lacks some of the files." }),
    writers: z.literal("all").meta({
      description: "Changes by all programs and people during the turn are included, not only the agent's.",
    }),
  })
  .meta({
    id: "TurnChanges",
    description: "The files of the agent's home that differ from before the turn, without ignored files and caches.",
  });
export type TurnChanges = z.infer<typeof TurnChanges>;

/** The hunks of a unified diff; null if the file is not text, is too large, or was not known before the turn. */
const FileDiff = z.string().nullable();

export const TurnChangesWithDiffs = TurnChanges.extend({
  files: z.array(
    FileChange.extend({
      diff: FileDiff.meta({
        description:
          "The hunks of a unified diff against the file from before the turn. Null: the file is not text or exceeds 1 MiB, the diffs of the turn exceed 1 MiB together, or there is no copy from before.",
      }),
    }),
  ),
}).meta({ id: "TurnChangesWithDiffs" });
export type TurnChangesWithDiffs = z.infer<typeof TurnChangesWithDiffs>;
