import { join } from "node:path";
import { DiskReserve } from "../core/disk-reserve.ts";
import { recordOfBuilt } from "../machines/qemu/image.ts";
import { lastBuiltImage, type OpenDriver } from "../machines/qemu/open.ts";

/** The client's library is large, and loaded only for Kubernetes. */
export const openKubernetes: OpenDriver = async (config, usualResources, serveUplink, log, epoch) => {
  const { kubeconfig, ...options } = config.kubernetes!;
  const { MachineObjects } = await import("./cluster.ts");
  const { KubernetesDriver } = await import("./driver.ts");
  const { PackedDisks } = await import("./packed-disks.ts");
  const { Pods } = await import("./pods.ts");
  const { TemplateMachines } = await import("./template-machines.ts");
  const image = await recordOfBuilt(config.imageFolder ?? (await lastBuiltImage()));
  const podsOf = (kind: "machine" | "template") => new Pods(new MachineObjects(kind, kubeconfig, options), epoch);
  const common = { usualResources, log };
  const templates = new TemplateMachines({ ...common, imageId: image.id, pods: podsOf("template"), serveUplink });
  const disks = await PackedDisks.open(
    join(config.dataFolder, "exports"),
    new DiskReserve(config.dataFolder, config.diskReserveBytes),
  );
  return new KubernetesDriver({ ...common, image, pods: podsOf("machine"), templates, disks });
};
