import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readVersion } from "../../src/config/version.ts";
import { Podman } from "./podman.ts";

// The image that `make container-image` has built, in Debian's podman. Needs root.

const release = join(import.meta.dirname, "../../build/release");
const version = await readVersion();
const image = `localhost/berth:${version}`;

let podman: Podman;
beforeAll(async () => {
  podman = await Podman.open(join(release, "compose.yaml"));
  await podman.run("load", "--input", join(release, `berth-container-${version}.tar`));
}, 300_000);
afterAll(() => podman[Symbol.asyncDispose]());

const tool = (...args: string[]) => podman.run("exec", "berth", "berth", ...args);
const untilAnswering = () =>
  expect.poll(() => tool("api", "GET", "/healthz").catch((error: Error) => error.message)).toBe('{"ok":true}');

test("the container serves its tool and the host, and keeps its data over a restart", async () => {
  await podman.start("berth", image, { options: ["--publish", "127.0.0.1::7420"] });
  await untilAnswering();
  const address = (await podman.run("port", "berth", "7420/tcp")).trim();
  expect(await (await fetch(`http://${address}/healthz`)).json()).toEqual({ ok: true });
  expect(await tool("--version")).toBe(`${version}\n`);
  await tool("keys", "create", "--name", "kept");
  await podman.run("restart", "berth");
  await untilAnswering();
  expect(await tool("keys", "list")).toContain("kept");
});

test("a second container on the same volume is refused", async () => {
  await podman.start("second", image);
  expect(await podman.outputOf("second")).toContain("is in use by a server in another container. Stop that container");
  await untilAnswering();
});

test("another container continues with the volumes of one that was removed", async () => {
  await podman.run("stop", "berth");
  expect(await podman.run("inspect", "berth", "--format", "{{.State.ExitCode}}")).toBe("0\n");
  await podman.run("rm", "berth");
  await podman.run("tag", image, "localhost/berth:next");
  await podman.start("berth", "localhost/berth:next");
  await untilAnswering();
  expect(await tool("keys", "list")).toContain("kept");
});

const unusable = "/var/lib/berth cannot be written. Mount a volume there that is writable and has free space";

test("a read-only volume is refused with a clear error", async () => {
  await podman.start("read-only", image, { storage: ["--volume", "other:/var/lib/berth:ro"] });
  expect(await podman.outputOf("read-only")).toContain(unusable);
});

test("a full volume is refused with a clear error", async () => {
  const storage = ["--tmpfs", "/var/lib/berth:size=1m", "--entrypoint", "sh"];
  const script = "cat /dev/zero >/var/lib/berth/full 2>/dev/null; exec /usr/lib/berth/start";
  await podman.start("full", image, { storage, command: ["-c", script] });
  expect(await podman.outputOf("full")).toContain(unusable);
});
