import type { V1CSIDriver, V1StorageClass } from "@kubernetes/client-node";
import type { Check } from "./check.ts";

const defaultAnnotations = [
  "storageclass.kubernetes.io/is-default-class",
  "storageclass.beta.kubernetes.io/is-default-class",
];
/** Provisioners whose volumes are network file systems: nothing is attached, so two nodes can have one at once. */
const shared =
  /\b(nfs|efs|smb|cephfs|glusterfs|quobyte|lustre|juicefs|filestore|azure-file|azurefile)\b|file\.csi\.azure|fsx\.csi/;
/** Provisioners whose volumes are folders or disks of one node. */
const local = /local-path|\blocal\b|hostpath|topolvm|\blvm\b/;
const chooseAnother = "name another with BERTH_KUBERNETES_STORAGE_CLASS";

export const storage: Check = async (cluster, { storageClass }) => {
  const classes = await cluster.storageClasses();
  const chosen = classes.find((each) => (storageClass === null ? isDefault(each) : nameOf(each) === storageClass));
  if (!chosen) return missing(classes, storageClass);
  const driver = (await cluster.storageDrivers()).find(({ metadata }) => metadata?.name === chosen.provisioner);
  const found = `${nameOf(chosen)}, by ${chosen.provisioner}, ${chosen.volumeBindingMode ?? "Immediate"}`;
  if (chosen.provisioner === "kubernetes.io/no-provisioner") {
    return { ok: false, found, problem: "Nothing makes this class's volumes.", fix: chooseAnother };
  }
  const notes = notesOn(chosen, driver);
  return { ok: true, found, ...(notes.length > 0 ? { note: notes.join(" ") } : {}) };
};

function missing(classes: V1StorageClass[], wanted: string | null): Awaited<ReturnType<Check>> {
  const found = classes.length > 0 ? `the classes ${classes.map(nameOf).join(", ")}` : "no storage class";
  const problem = wanted === null ? "None is the cluster's default." : `There is no storage class ${wanted}.`;
  const fix = classes.length > 0 ? chooseAnother : "install a CSI driver that attaches a volume to one node";
  return { ok: false, found, problem, fix };
}

function notesOn(chosen: V1StorageClass, driver: V1CSIDriver | undefined): string[] {
  const notes: string[] = [];
  const { provisioner } = chosen;
  if (local.test(provisioner)) {
    notes.push("A volume stays on its node: its agent waits for that node, and goes with it.");
  } else if (shared.test(provisioner) || driver?.spec.attachRequired === false) {
    notes.push("Two nodes can have one volume at once: QEMU's lock alone keeps a machine from running twice.");
  }
  if (!driver && !provisioner.startsWith("kubernetes.io/")) {
    notes.push("No CSI driver of that name is registered; whether another program makes its volumes cannot be seen.");
  }
  if (chosen.reclaimPolicy === "Retain") notes.push("The volumes of deleted agents stay (Retain).");
  return notes;
}

function isDefault({ metadata }: V1StorageClass): boolean {
  return defaultAnnotations.some((name) => metadata?.annotations?.[name] === "true");
}

function nameOf({ metadata }: V1StorageClass): string {
  return metadata?.name ?? "";
}
