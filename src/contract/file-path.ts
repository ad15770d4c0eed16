import { z } from "zod";

/** The longest path that a request may name, in characters. The machine's own limits are lower. */
export const maximumPath = 16_384;

/** A path in an agent's machine. */
export const FilePath = z
  .string()
  .max(maximumPath)
  .refine((path) => !path.includes("\0"), "A path must not contain null characters.")
  .refine((path) => path.isWellFormed(), "A path must be UTF-8.");
