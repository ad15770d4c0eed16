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

/** The most files that one request reverts. */
export const maximumRevertedFiles = 100;

export const RevertFiles = z
  .strictObject({
    files: z
      .array(z.string().min(1, "A file's name must not be empty.").max(maximumPath))
      .min(1, "files: name at least one file of the turn.")
      .max(maximumRevertedFiles, `files: up to ${maximumRevertedFiles} files in a request.`)
      .meta({ description: "Names of files that the turn changed, as in its `changes`." }),
    to: z.enum(["before", "after"]).default("before").meta({
      description: "`before`: take the turn's change back. `after`: make it again, which undoes a revert.",
    }),
  })
  .meta({ id: "RevertFiles" });
export type RevertFiles = z.infer<typeof RevertFiles>;

const RevertedFile = FileChange.pick({ name: true }).extend({
  change: FileChange.shape.change.meta({ description: "How the request changed the file." }),
});

export const RevertedFiles = z.object({ files: z.array(RevertedFile) }).meta({ id: "RevertedFiles" });
export type RevertedFiles = z.infer<typeof RevertedFiles>;

/** A change that a machine makes to a file of the home. `diff`: its hunks, or those of the opposite change. */
export const FileEdit = RevertedFile.extend({ diff: z.string(), isReversed: z.boolean() });
export type FileEdit = z.infer<typeof FileEdit>;

/** The most turns whose changes are put together. */
export const maximumComposedTurns = 100;

export const ChangesQuery = z.strictObject({
  since: z
    .string("since is required: a snapshot's name or id, or a turn's id.")
    .min(1, "since is a snapshot's name or id, or a turn's id.")
    .max(100)
    .meta({ description: "The name or id of a snapshot, or the id of a turn, whose own changes are included." }),
});

const missingDiffs = ["no_diff", "changed_between", "too_large"] as const;

const ComposedFile = FileChange.extend({
  diff: z.string().nullable().meta({ description: "The hunks of a unified diff over all the turns." }),
  reason: z.enum(missingDiffs).nullable().meta({
    description:
      "Why there is no diff. `no_diff`: a turn has none for the file. `changed_between`: the file was also changed between turns. `too_large`: the diffs exceed 1 MiB together.",
  }),
});
export type ComposedFile = z.infer<typeof ComposedFile>;

export const AgentChanges = TurnChanges.extend({
  files: z.array(ComposedFile).max(maximumChangedFiles),
  turns: z.array(z.string()).max(maximumComposedTurns).meta({ description: "The turns' ids, oldest first." }),
  unknown: z.array(z.string()).max(maximumComposedTurns).meta({
    description: "Those of the turns whose changes are not known, or whose list of files is cut.",
  }),
}).meta({ id: "AgentChanges" });
export type AgentChanges = z.infer<typeof AgentChanges>;
