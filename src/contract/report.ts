import { z } from "zod";

/** Query fields of lists that can be read as CSV, and for a span of time. */
export const Format = z
  .enum(["json", "csv"])
  .optional()
  .meta({ description: "`csv` as with `Accept: text/csv`: all rows, no pages." });

export const Since = z.iso
  .datetime({ offset: true, message: "A time is ISO 8601, such as 2030-01-31T12:00:00Z." })
  .meta({ description: "Earliest time, inclusive." });
export const Until = Since.meta({ description: "Latest time, exclusive." });
