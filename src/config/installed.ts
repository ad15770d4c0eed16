import { fileURLToPath } from "node:url";

/** Whether this is the Debian package's tree, and not a checkout. */
const isPackaged = fileURLToPath(new URL("../../", import.meta.url)) === "/usr/lib/berth/";

/** The commands that error messages suggest. */
export const remedies = isPackaged
  ? {
      imageBuilder: "berth-image.service",
      image: "systemctl start berth-image",
      setup: "apt install --reinstall berth",
    }
  : { imageBuilder: "make up", image: "make image", setup: "make setup" };
