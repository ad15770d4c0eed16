import { z } from "zod";
import { AgentParams } from "./agents.ts";
import { CreatedBy } from "./authors.ts";
import { uuidPattern } from "./ids.ts";

/** The most shares that an agent may have at once. */
export const maximumShares = 100;

export const CreateShare = z
  .strictObject({
    public: z.literal(true).meta({ description: "Always true: anyone with the link can use it." }),
    expiresAt: z.iso
      .datetime({ offset: true })
      .optional()
      .meta({ description: "When the share expires. Default: never." }),
  })
  .meta({ id: "CreateShare" });
export type CreateShare = z.infer<typeof CreateShare>;

const ShareRecord = z.object({
  id: z.string(),
  port: z.int(),
  createdBy: CreatedBy,
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime().nullable(),
});
export type ShareRecord = z.infer<typeof ShareRecord>;

export const Share = ShareRecord.extend({
  url: z.string().meta({ description: "The link. It is shown only once." }),
}).meta({ id: "Share" });

export const ShareList = z.object({ data: z.array(ShareRecord.meta({ id: "ShareRecord" })) }).meta({ id: "ShareList" });

export const ShareParams = AgentParams.extend({
  shareId: z.string().regex(uuidPattern, "A share's id must be a UUID."),
});
