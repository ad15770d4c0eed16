import { z } from "zod";
import { AgentParams } from "./agents.ts";
import { CreatedBy } from "./authors.ts";

/** The largest upload, in bytes. */
export const maximumUploadBytes = 100 * 1024 * 1024;
/** The bytes that the uploads of a workspace's agents may take. */
export const maximumUploadedBytes = 1024 * 1024 * 1024;
/** The most images and files of a message. */
export const maximumAttachments = 20;
/** The largest chat request, in bytes. */
export const maximumChatBytes = 8 * 1024 * 1024;
/** The longest name of a file, in UTF-16 units. */
const maximumName = 1_000;

/** The media types of images, which all model providers accept. */
export const imageTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;

export const MediaType = z
  .string()
  .max(127)
  .regex(
    /^[a-z0-9][a-z0-9!#$&^_.+-]*\/[a-z0-9][a-z0-9!#$&^_.+-]*$/i,
    "A media type is TYPE/SUBTYPE, such as image/png.",
  );

const FileName = z.string().max(maximumName, `A file name is limited to ${maximumName} characters.`);

const fileFields = {
  data: z.string().max(maximumChatBytes).optional().meta({ description: "The bytes in base64." }),
  fileId: z.uuid().optional().meta({ description: "The id of an upload, instead of `data`." }),
  name: FileName.optional().meta({ description: "The file's name. Default: the upload's, or one by its type." }),
  mediaType: MediaType.optional().meta({ description: "Default: the upload's, or one by the bytes or the name." }),
};
const hasOne = ({ data, fileId }: { data?: string | undefined; fileId?: string | undefined }) =>
  (data === undefined) !== (fileId === undefined);
const oneRequired = "Exactly one of data, fileId is required.";

/** A part of a message's content. */
export const ContentPart = z
  .discriminatedUnion("type", [
    z.strictObject({ type: z.literal("text"), text: z.string() }),
    z.strictObject({ type: z.literal("image"), ...fileFields }).refine(hasOne, oneRequired),
    z.strictObject({ type: z.literal("file"), ...fileFields }).refine(hasOne, oneRequired),
  ])
  .meta({ id: "ContentPart", description: "A text, an image or a file of a message." });
export type ContentPart = z.infer<typeof ContentPart>;

/** An image or a file of a turn's message. */
export const Attachment = z
  .object({
    id: z.uuid().meta({ description: "The id of its upload, which is kept for seven days after the message." }),
    kind: z.enum(["image", "file"]),
    name: z.string().max(maximumName),
    mediaType: z.string().max(127),
    size: z.int().min(1).meta({ description: "In bytes." }),
  })
  .meta({ id: "Attachment" });
export type Attachment = z.infer<typeof Attachment>;

export const Attachments = z.array(Attachment).max(maximumAttachments);

export const UploadParams = AgentParams.extend({ uploadId: z.string().meta({ description: "The upload's id." }) });

export const UploadQuery = z.strictObject({
  name: FileName.min(1, "A file name must not be empty.").default("file.bin"),
  mediaType: MediaType.optional().meta({ description: "Default: by the name." }),
});

export const Upload = z
  .object({
    id: z.uuid(),
    name: z.string(),
    mediaType: z.string(),
    size: z.int().meta({ description: "In bytes." }),
    sha256: z.string(),
    createdBy: CreatedBy,
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime().meta({
      description: "24 hours after the upload, or seven days after the last message that used it.",
    }),
  })
  .meta({ id: "Upload" });
export type Upload = z.infer<typeof Upload>;

export const UploadList = z
  .object({ data: z.array(Upload), nextCursor: z.string().nullable() })
  .meta({ id: "UploadList", description: "An agent's uploads, newest first." });
