import { idOfBuilt } from "../machines/qemu/image.ts";
import { lastBuiltImage, type OpenDriver } from "./qemu.ts";

/** Machines as pods of a cluster. The client's library is large, and loaded for them alone. */
export const openKubernetes: OpenDriver = async (config, _usual, _serveTemplateUplink, _log, epoch) => {
  const { kubeconfig, ...options } = config.kubernetes!;
  const { MachineObjects } = await import("../machines/kubernetes/cluster.ts");
  const { KubernetesDriver } = await import("../machines/kubernetes/driver.ts");
  const imageId = await idOfBuilt(config.imageFolder ?? (await lastBuiltImage()));
  return new KubernetesDriver({ objects: new MachineObjects(kubeconfig, options), imageId, epoch });
};
