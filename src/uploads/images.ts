import { imageSize } from "image-size";
import { BerthError } from "../contract/errors.ts";
import type { imageTypes } from "../contract/uploads.ts";

type ImageType = (typeof imageTypes)[number];

/** The largest image, in bytes. */
export const maximumImageBytes = 10 * 1024 * 1024;
/** The most pixels of a side. Anthropic's API rejects larger images, and with them every later turn. */
const maximumSide = 8_000;

/** The chunk IEND, with its checksum. */
const pngEnd = Buffer.from("IEND\xae\x42\x60\x82", "latin1");

/** The first bytes of each type, and whether the bytes are complete. */
const kinds: Record<ImageType, { begins: RegExp; isWhole: (bytes: Buffer) => boolean }> = {
  "image/png": { begins: /^\x89PNG\r\n/, isWhole: (bytes) => bytes.lastIndexOf(pngEnd) > 0 },
  "image/jpeg": { begins: /^\xff\xd8\xff/, isWhole: (bytes) => bytes.lastIndexOf(Buffer.from([0xff, 0xd9])) > 0 },
  "image/gif": { begins: /^GIF8[79]a/, isWhole: (bytes) => bytes.lastIndexOf(0x3b) > 12 },
  "image/webp": {
    begins: /^RIFF[\s\S]{4}WEBP/,
    isWhole: (bytes) => bytes.length >= 12 && bytes.readUInt32LE(4) + 8 <= bytes.length,
  },
};

/**
 * The media type of an image, by its bytes. Throws `request_invalid` unless they are a complete image of an allowed type
 * and size, and of the type that the caller says, if any. `part` names it in errors.
 */
export function checkImage(bytes: Buffer, said: string | null, part: string): ImageType {
  const head = bytes.subarray(0, 16).toString("latin1");
  const type = (Object.keys(kinds) as ImageType[]).find((each) => kinds[each].begins.test(head));
  const allowed = "An image is a PNG, JPEG, GIF or WebP file; send anything else as type file.";
  if (!type) throw invalid(part, `this is not an image that models accept. ${allowed}`);
  if (said !== null && said.toLowerCase().replace(/^image\/jpg$/, "image/jpeg") !== type)
    throw invalid(part, `mediaType is ${said}, but the bytes are ${type}. Set mediaType to ${type}, or leave it out.`);
  const size = sizeOf(bytes);
  if (!size || !kinds[type].isWhole(bytes)) throw invalid(part, `the ${type} is broken or incomplete. ${allowed}`);
  const { width, height } = size;
  if (width < 1 || height < 1 || width > maximumSide || height > maximumSide) {
    const limit = `An image has 1 to ${maximumSide} pixels on each side`;
    throw invalid(part, `the image has ${width} × ${height} pixels. ${limit}; send a larger one as type file.`);
  }
  return type;
}

function sizeOf(bytes: Buffer): { width: number; height: number } | null {
  try {
    return imageSize(bytes);
  } catch {
    return null;
  }
}

function invalid(part: string, problem: string): BerthError {
  return new BerthError("request_invalid", `${part}: ${problem}`);
}
