import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const tree = new URL("../../", import.meta.url);

/** How this tree came to the host: as the container image, the Debian package, the npm package, or a checkout. */
function wayOfInstallation() {
  if (fileURLToPath(tree) === "/usr/lib/berth/") return existsSync(new URL("start", tree)) ? "container" : "debian";
  return existsSync(new URL("Makefile", tree)) ? "checkout" : "npm";
}

/** The commands that error messages suggest. */
export const remedies = {
  container: {
    imageBuilder: "the container",
    image: "podman restart berth (or docker restart berth)",
    setup: "the options of the release's compose.yaml",
  },
  debian: {
    imageBuilder: "berth-image.service",
    image: "systemctl start berth-image",
    setup: "apt install --reinstall berth",
  },
  npm: {
    imageBuilder: "berth-server up",
    image: "npx @berth/server@latest image",
    setup: "npx @berth/server@latest up",
  },
  checkout: { imageBuilder: "make up", image: "make image", setup: "make setup" },
}[wayOfInstallation()];
