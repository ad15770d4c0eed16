import { z } from "zod";

/** The last file of an archive: without it, the archive is not whole. */
export const manifestFile = "manifest.json";

/** A file of an archive: its path, its size in bytes and the SHA-256 of its content. */
const ManifestEntry = z.object({ path: z.string(), size: z.int().min(0), sha256: z.string().regex(/^[0-9a-f]{64}$/) });
export type ManifestEntry = z.infer<typeof ManifestEntry>;

/** An archive's last entry. */
export const Manifest = z.object({ files: z.array(ManifestEntry) });
