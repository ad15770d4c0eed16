import { z } from "zod";

/** The last file of an archive. An archive without it is incomplete. */
export const manifestFile = "manifest.json";

const ManifestEntry = z.object({ path: z.string(), size: z.int().min(0), sha256: z.string().regex(/^[0-9a-f]{64}$/) });
export type ManifestEntry = z.infer<typeof ManifestEntry>;

/** The manifest of an archive with up to this many files. */
export const manifestOf = (maximumFiles: number) => z.object({ files: z.array(ManifestEntry).max(maximumFiles) });
