import { expect, test } from "vitest";
import { gif, jpeg, png, webp } from "../../test/support/pictures.ts";
import { checkImage } from "./images.ts";

const images = { "image/png": png(), "image/jpeg": jpeg, "image/gif": gif, "image/webp": webp };

test.each(Object.entries(images))("a complete %s is accepted, and its type is that of its bytes", (type, bytes) => {
  expect(checkImage(bytes, null, "content.0")).toBe(type);
  expect(checkImage(bytes, type.toUpperCase(), "content.0")).toBe(type);
});

test("image/jpg is another name of image/jpeg", () => {
  expect(checkImage(jpeg, "image/jpg", "content.0")).toBe("image/jpeg");
});

test.each(Object.entries(images))(
  "a %s that is cut anywhere, or has other bytes, is no reason to crash",
  (_, bytes) => {
    for (let length = 0; length < bytes.length - 2; length++) {
      expect(() => checkImage(bytes.subarray(0, length), null, "content.0"), String(length)).toThrow(
        /^content\.0: (this is not an image|the image\/\w+ is broken or incomplete)/,
      );
    }
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 0xff;
      try {
        checkImage(changed, null, "content.0");
      } catch (error) {
        expect(error).toMatchObject({ code: "request_invalid" });
      }
    }
  },
);

test.each([
  [jpeg, "image/png", "mediaType is image/png, but the bytes are image/jpeg. Set mediaType to image/jpeg"],
  [
    Buffer.from("<svg/>"),
    "image/svg+xml",
    "not an image that models accept. An image is a PNG, JPEG, GIF or WebP file",
  ],
  [Buffer.from("%PDF-1.7"), "image/png", "not an image that models accept"],
  [png(8_001, 1), null, "8001 × 1 pixels. An image has 1 to 8000 pixels on each side"],
  [png(0x7fff_ffff, 0x7fff_ffff), null, "2147483647 × 2147483647 pixels"],
  [png(0, 5), null, "0 × 5 pixels"],
])("a lying image is refused with what is allowed: %#", (bytes, said, message) => {
  expect(() => checkImage(bytes, said, "content.0")).toThrow(message);
});
