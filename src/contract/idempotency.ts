import { z } from "zod";

/** The headers of a POST that the service reads. */
export const PostHeaders = z.looseObject({
  "idempotency-key": z
    .string()
    .regex(/^[\x20-\x7e]{1,255}$/, "1 to 255 printable ASCII characters are allowed.")
    .optional()
    .meta({
      description:
        "Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.",
    }),
});
