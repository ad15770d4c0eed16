import { join } from "node:path";
import { z } from "zod";

/** Increment it when older versions cannot read what newer ones write. */
export const imageFormat = 1;

/** The first file of the archive. */
export const headerFile = "berth-image.json";

const Built = z.string().regex(/^(base|openclaw)-[0-9a-f]{16}$/);

/** An image's record, as `image/build.ts` writes it in `image.json`. Images of earlier builds have no `parts`. */
export const ImageRecord = z.object({
  id: z.string().regex(/^[0-9a-f]{16}$/),
  /** Folders in the build's cache whose files the image shares. */
  /** The second: of OpenClaw's own image; null: it has none. */
  parts: z.object({ base: Built, openclaw: Built.nullable() }),
});

export const ImageHeader = z.object({
  format: z.literal(imageFormat),
  /** The version of Berth. */
  berth: z.string().max(100),
  /** The processor's kind, as Node names it. */
  architecture: z.string().max(20),
  image: ImageRecord,
});
export type ImageHeader = z.infer<typeof ImageHeader>;

/**
 * The files of an image in the build's cache: those that an archive stores, and hard links to them, by the link's path.
 * The folder of the image itself is the last of `folders`.
 */
export function filesOf({ id, parts: { base, openclaw } }: ImageHeader["image"]) {
  const image = `image-${id}`;
  const apart = openclaw === null ? noFiles : filesApart(`${image}.openclaw`, image, base, openclaw);
  return {
    folders: [base, ...apart.folders, image],
    stored: [
      ...["rootfs.img", "services.img", "vmlinuz", "initrd-base.img"].map((name) => join(base, name)),
      join(image, "initrd.img"),
      join(image, "image.json"),
      ...apart.stored,
    ],
    links: {
      [join(image, "rootfs.img")]: join(base, "rootfs.img"),
      [join(image, "services.img")]: join(base, "services.img"),
      [join(image, "vmlinuz")]: join(base, "vmlinuz"),
      ...apart.links,
    },
  };
}

const noFiles = { folders: [], stored: [], links: {} };

function filesApart(apart: string, image: string, base: string, openclaw: string) {
  return {
    folders: [openclaw, apart],
    stored: [join(openclaw, "services.img"), join(apart, "image.json")],
    links: {
      [join(apart, "rootfs.img")]: join(base, "rootfs.img"),
      [join(apart, "services.img")]: join(openclaw, "services.img"),
      [join(apart, "vmlinuz")]: join(base, "vmlinuz"),
      [join(apart, "initrd.img")]: join(image, "initrd.img"),
    },
  };
}
