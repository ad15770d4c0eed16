import { z } from "zod";
import { hexOf, uuidOf } from "./ids.ts";

// OpenAI's Files API (https://platform.openai.com/docs/api-reference/files), for files that messages name.

/** The largest file, in bytes. Its form is in memory while it arrives. */
export const maximumFileBytes = 32 * 1024 * 1024;
/** The limits of a workspace's files together, and of those of an external agent key. */
export const fileLimits = { files: 1_000, bytes: 1024 * 1024 * 1024 };
export const keyFileLimits = { files: 100, bytes: 100 * 1024 * 1024 };
/** How long a file is kept, in seconds, unless its upload says it. */
const defaultSeconds = 30 * 86_400;
const seconds = { least: 3_600, most: 30 * 86_400 };

const filePurposes = ["user_data", "vision", "assistants"] as const;
const purposeText = `The purpose of a file is ${filePurposes.map((each) => `"${each}"`).join(", ")}: agents have no others.`;
const FilePurpose = z.enum(filePurposes, purposeText);
export type FilePurpose = z.infer<typeof FilePurpose>;

/** A file's id as clients see it. */
export function fileId(id: string): string {
  return `file-${hexOf(id)}`;
}

/** The id within a client's id; null if it is not of this form. */
export function fromFileId(text: string): string | null {
  const [, hex] = /^file-([0-9a-f]{32})$/.exec(text) ?? [];
  return hex === undefined ? null : uuidOf(hex);
}

/** The fields of an upload's form, without the file. */
export const FileForm = z.object({
  purpose: FilePurpose,
  "expires_after[anchor]": z.literal("created_at", 'expires_after[anchor] can be "created_at".').optional(),
  "expires_after[seconds]": z.coerce
    .number()
    .int()
    .min(seconds.least, `expires_after[seconds] is ${seconds.least} at least: an hour.`)
    .max(seconds.most, `expires_after[seconds] is ${seconds.most} at most: 30 days.`)
    .default(defaultSeconds),
});

export const OpenAiFileParams = z.object({
  fileId: z.string().meta({ description: "The file's id, as `file-…`." }),
});

export const OpenAiFilesQuery = z.strictObject({
  purpose: FilePurpose.optional(),
  limit: z.coerce.number().int().min(1).max(10_000).default(10_000),
  order: z.enum(["asc", "desc"]).default("desc"),
  after: z.string().max(200).optional().meta({ description: "The id of the previous page's last file." }),
});

export const OpenAiFile = z
  .looseObject({
    id: z.string(),
    object: z.literal("file"),
    bytes: z.int(),
    created_at: z.int(),
    expires_at: z.int(),
    filename: z.string(),
    purpose: z.string(),
    status: z.literal("processed"),
  })
  .meta({ id: "OpenAiFile", description: "A file of OpenAI's Files API." });
export type OpenAiFile = z.infer<typeof OpenAiFile>;
export const OpenAiFileList = z.looseObject({
  object: z.literal("list"),
  data: z.array(OpenAiFile),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
});
export const DeletedOpenAiFile = z.looseObject({ id: z.string(), object: z.literal("file"), deleted: z.literal(true) });
