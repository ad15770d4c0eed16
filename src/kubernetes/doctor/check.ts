import type { Resources } from "../../contract/agents.ts";
import type { Finding } from "../../contract/finding.ts";
import type { PodOptions } from "../objects.ts";
import type { ClusterView } from "./cluster-view.ts";

export interface CheckOptions extends Omit<PodOptions, "image"> {
  /** Null: it is not known here. */
  image: string | null;
  /** The machine of an agent whose size nobody chose. */
  usual: Resources;
}

/** Looks at one thing that the service needs of a cluster. */
export type Check = (cluster: ClusterView, options: CheckOptions) => Promise<Omit<Finding, "name">>;

export const applyManifests = "kubectl apply -k deploy/kubernetes/base";
