import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { lastBuiltImage } from "../../src/machines/qemu/open.ts";
import { Cluster } from "./cluster.ts";
import { makeQemuImage, qemuImage } from "./images.ts";
import { findPod, podsPath, restrictedContainer, restrictedPod } from "./workloads.ts";

// That a virtual machine runs in a pod without any rights.

let cluster: Cluster;
beforeAll(async () => {
  cluster = await Cluster.start({ nodes: 1 });
  const archive = join(cluster.folder, "qemu.tar");
  await makeQemuImage(archive, (await lastBuiltImage())!);
  await cluster.load(archive);
});
afterAll(() => cluster?.[Symbol.asyncDispose]());

async function runPod(name: string, args: string[]): Promise<void> {
  await cluster.api.create(podsPath, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: {
      restartPolicy: "Never",
      securityContext: restrictedPod,
      containers: [
        { name: "main", image: qemuImage, imagePullPolicy: "Never", args, securityContext: restrictedContainer },
      ],
    },
  });
}

/** Empty until the pod runs. */
function output(name: string): Promise<string> {
  return cluster.kubectl("logs", name).catch(() => "");
}

test("QEMU says its version", async () => {
  await runPod("version", ["-version"]);
  await expect.poll(async () => (await findPod(cluster, "version"))?.status.phase).toBe("Succeeded");
  expect(await output("version")).toContain("QEMU emulator version");
});

test("the guest's kernel boots, emulated", async () => {
  const kernel = ["-kernel", "/guest/vmlinuz", "-initrd", "/guest/initrd.img", "-append", "console=ttyS0 panic=-1"];
  const devices = ["-nodefaults", "-display", "none", "-serial", "stdio", "-no-reboot"];
  await runPod("guest", ["-accel", "tcg", "-m", "512", ...devices, ...kernel]);
  await expect.poll(() => output("guest"), { timeout: 240_000 }).toContain("Run /init as init process");
});
