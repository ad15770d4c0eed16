import type { Resources } from "../../contract/agents.ts";
import type { Finding } from "../../contract/finding.ts";
import type { PodOptions } from "../objects.ts";
import type { ClusterView } from "./cluster-view.ts";

export interface CheckOptions extends Omit<PodOptions, "image"> {
  /** Null if unknown. */
  image: string | null;
  /** The default size of an agent's machine. */
  usual: Resources;
}

/** Checks one requirement of the cluster. */
export type Check = (cluster: ClusterView, options: CheckOptions) => Promise<Omit<Finding, "name">>;

export const applyManifests = "kubectl apply -k deploy/kubernetes/base";
