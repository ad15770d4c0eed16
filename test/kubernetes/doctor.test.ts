import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loadAllYaml, type V1Role, type V1RoleBinding } from "@kubernetes/client-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Authority } from "./certificates.ts";
import { Cluster } from "./cluster.ts";
import { doctor as ask, findings as find } from "./doctor.ts";

// `berth doctor --kubernetes` against a real control plane. Nodes are objects there that nobody runs, so that they can be
// of any kind; losses.test.ts has real ones.

const base = join(import.meta.dirname, "../../deploy/kubernetes/base");
const machines = "/api/v1/namespaces/berth-machines";
const image = "registry.example/berth/machine:1";
let cluster: Cluster;

const doctor = (environment: Record<string, string> = {}) => ask({ KUBECONFIG: cluster.kubeconfig, ...environment });
const findings = (environment: Record<string, string> = {}) => find({ KUBECONFIG: cluster.kubeconfig, ...environment });

beforeAll(async () => {
  cluster = await Cluster.start({ nodes: 0 });
  await cluster.kubectl("apply", "-f", join(base, "namespaces.yaml"));
}, 600_000);
afterAll(() => cluster?.[Symbol.asyncDispose]());

const node = (name: string, changes: { labels?: object; allocatable?: object; architecture?: string } = {}) => ({
  metadata: { name, labels: changes.labels ?? {} },
  status: {
    conditions: [{ type: "Ready", status: "True", lastHeartbeatTime: new Date().toISOString() }],
    nodeInfo: { operatingSystem: "linux", architecture: changes.architecture ?? "amd64" },
    allocatable: { cpu: "4", memory: "16306844Ki", pods: "110", ...changes.allocatable },
    images: [{ names: [image] }],
  },
});

/** Has the cluster have these and no others. Nobody hears of them, so they are Ready for some seconds. */
async function haveNodes(...nodes: ReturnType<typeof node>[]): Promise<void> {
  await cluster.kubectl("delete", "nodes", "--all");
  for (const each of nodes) {
    await cluster.api.create("/api/v1/nodes", { apiVersion: "v1", kind: "Node", ...each });
    // Each begins with one, which goes once its controller has seen that it is Ready.
    await cluster.api.patch(`/api/v1/nodes/${each.metadata.name}`, { spec: { taints: null } });
  }
}

test("reports each lack with its remedy; missing read permission is not a problem", async () => {
  await cluster.kubectl("delete", "storageclass", "--all");
  const bare = await doctor({ BERTH_KUBERNETES_NAMESPACE: "elsewhere" });
  expect(bare.code).toBe(1);
  expect(bare.stdout).toContain("The namespace elsewhere is not there.\n    to fix it: kubectl apply -k");
  expect(bare.stdout).toContain("✘ nodes            0 of 0 can have machines\n");
  expect(bare.stdout).toContain("✘ storage          no storage class\n");
  expect(bare.stdout).toContain("✘ network policies none\n");
  const { code, stdout } = await doctor({ KUBECONFIG: await kubeconfigOfAda() });
  expect(code).toBe(1);
  expect(stdout).toContain("✘ rights           12 of 14\n    Missing permissions: create statefulsets, get nodes.\n");
  expect(stdout).toContain('✔ nodes            not looked at: nodes is forbidden: User "ada"');
});

/** Ada has what the manifests give a server, but for making machines and looking at nodes. */
async function kubeconfigOfAda(): Promise<string> {
  const ada = { kind: "User", name: "ada", apiGroup: "rbac.authorization.k8s.io" };
  for (const object of loadAllYaml(await readFile(join(base, "roles.yaml"), "utf8"))) {
    const collection = `/apis/rbac.authorization.k8s.io/v1/namespaces/berth-machines/${object.kind.toLowerCase()}s`;
    if (object.kind === "Role") {
      const [sets, ...rules] = (object as V1Role).rules!;
      const verbs = sets!.verbs.filter((verb) => verb !== "create");
      await cluster.api.create(collection, { ...object, rules: [{ ...sets, verbs }, ...rules] });
    }
    if (object.kind !== "RoleBinding") continue;
    await cluster.api.create(collection, { ...(object as V1RoleBinding), subjects: [ada] });
  }
  return cluster.authority.kubeconfig("ada", cluster.server, { name: "ada" });
}

test("a cluster that has everything passes, with what cannot be seen from its API", async () => {
  await haveStorage();
  await cluster.kubectl("apply", "-f", join(base, "network-policies.yaml"));
  await haveNodes(node("a"), node("b"));
  const { code, stdout, stderr } = await doctor({ BERTH_KUBERNETES_IMAGE: image });
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).not.toContain("✘");
  expect(stdout).toContain(`✔ API server       Kubernetes v1.20.2 at ${cluster.server}`);
  expect(stdout).toContain("✔ storage          fast, by ebs.csi.aws.com, WaitForFirstConsumer\n✔");
  expect(stdout).toContain("✔ network policies machines\n    Whether anything in the cluster enforces");
  expect(stdout).toContain("on 2 of 2 nodes");
});

/** A class by default, whose volumes are attached, and one of a network file system. */
async function haveStorage(): Promise<void> {
  const storage = "/apis/storage.k8s.io/v1";
  const isDefault = { "storageclass.kubernetes.io/is-default-class": "true" };
  for (const [name, provisioner, attachRequired, changes] of [
    ["fast", "ebs.csi.aws.com", true, { volumeBindingMode: "WaitForFirstConsumer" }],
    ["files", "nfs.csi.k8s.io", false, { reclaimPolicy: "Retain" }],
  ] as const) {
    const metadata = { name, ...(name === "fast" ? { annotations: isDefault } : {}) };
    await cluster.api.create(`${storage}/storageclasses`, { metadata, provisioner, ...changes });
    await cluster.api.create(`${storage}/csidrivers`, { metadata: { name: provisioner }, spec: { attachRequired } });
  }
}

test("nodes: number with room for machines, their processors, with or without KVM", async () => {
  await haveNodes(node("a", { architecture: "arm64" }), node("b"));
  expect((await findings()).nodes).toMatchObject({ ok: true, found: "1 of 2 can have machines; a is linux arm64" });
  const small = { allocatable: { memory: "2Gi" } };
  await haveNodes(node("a", small), node("b", small));
  expect((await findings()).room).toMatchObject({ ok: false, problem: "No node has the memory of one agent." });
  const kvm = "devices.kubevirt.io/kvm";
  const model = (id: string) => ({
    labels: { "feature.node.kubernetes.io/cpu-model.id": id },
    allocatable: { [kvm]: "110" },
  });
  await haveNodes(node("a", model("85")), node("b", model("106")));
  const offered = await findings();
  expect(offered.kvm).toMatchObject({ ok: true, note: `Nodes offer ${kvm}: set BERTH_KUBERNETES_KVM to it.` });
  expect(offered.processors).toMatchObject({ ok: true, found: "85; 106", note: expect.stringContaining("may differ") });
  expect((await findings({ BERTH_KUBERNETES_KVM: kvm })).kvm).toMatchObject({
    ok: true,
    found: `${kvm} on 2 of 2 nodes, for 220 machines`,
  });
  expect((await findings({ BERTH_KUBERNETES_KVM: "squat.ai/kvm" })).kvm).toMatchObject({ ok: false });
});

test("warns of a storage class whose volumes two nodes can mount, and fails on a missing one", async () => {
  const files = (await findings({ BERTH_KUBERNETES_STORAGE_CLASS: "files" })).storage!;
  expect(files).toMatchObject({ ok: true, found: "files, by nfs.csi.k8s.io, Immediate" });
  expect(files.note).toContain("Two nodes can have one volume at once");
  expect(files.note).toContain("The volumes of deleted agents stay");
  const none = (await findings({ BERTH_KUBERNETES_STORAGE_CLASS: "slow" })).storage!;
  expect(none).toMatchObject({ ok: false, problem: "There is no storage class slow." });
});

test("reports pods without an image and machines that wait in the cluster's words", async () => {
  await cluster.kubectl("--namespace=berth-machines", "create", "quota", "few", "--hard=pods=3");
  await haveSet("a", { schedulerName: "nobody" });
  await haveSet("b", { schedulerName: "nobody" });
  await haveNodes(node("a"), node("b"));
  await haveSet("c", { memory: "1Ti" });
  await expect.poll(podNames, { timeout: 60_000 }).toEqual(["machine-a-0", "machine-b-0", "machine-c-0"]);
  await haveSet("d");
  await waitFor("a", { reason: "ImagePullBackOff", message: `Back-off pulling image "${image}"` });
  await waitFor("b", { reason: "ContainerCreating" });
  await cluster.api.create(`${machines}/events`, {
    metadata: { generateName: "machine-b-0-" },
    involvedObject: { kind: "Pod", namespace: "berth-machines", name: "machine-b-0" },
    type: "Warning",
    reason: "FailedAttachVolume",
    message: "Multi-Attach error for volume",
  });
  const problem = async () => (await findings()).machines!.problem;
  await expect
    .poll(problem, { timeout: 60_000 })
    .toMatch(
      /^machine-d-0 is not made: .*exceeded quota: few.*; machine-b-0 waits: Multi-Attach error for volume; machine-c-0 waits: 0\/2 nodes are available: 2 Insufficient memory\.$/,
    );
  expect((await findings()).image).toMatchObject({
    ok: false,
    problem: `machine-a-0: Back-off pulling image "${image}".`,
  });
});

/** A machine's set of one pod, which asks for nothing else. */
async function haveSet(id: string, { memory = "1Mi", schedulerName = "default-scheduler" } = {}): Promise<void> {
  const labels = { "berth.dev/machine": id };
  const container = { name: "keeper", image, resources: { requests: { memory } } };
  const spec = { schedulerName, automountServiceAccountToken: false, containers: [container] };
  await cluster.api.create("/apis/apps/v1/namespaces/berth-machines/statefulsets", {
    metadata: { name: `machine-${id}`, labels },
    spec: {
      serviceName: "machines",
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec },
    },
  });
}

async function podNames(): Promise<string[]> {
  const { items } = await cluster.api.get<{ items: { metadata: { name: string } }[] }>(`${machines}/pods`);
  return items.map(({ metadata }) => metadata.name);
}

/** As a node's kubelet tells why a container does not begin. */
async function waitFor(id: string, waiting: { reason: string; message?: string }): Promise<void> {
  const container = { name: "keeper", image, imageID: "", ready: false, restartCount: 0, state: { waiting } };
  await cluster.api.patch(`${machines}/pods/machine-${id}-0/status`, { status: { containerStatuses: [container] } });
}

test("reports a wrong token, an expired certificate and an untrusted authority", async () => {
  const told = async (kubeconfig: string) => {
    const { code, stdout } = await doctor({ KUBECONFIG: kubeconfig });
    expect([code, stdout.match(/✘/g)?.length]).toEqual([1, 1]);
    return stdout;
  };
  const expired = await cluster.authority.kubeconfig("late", cluster.server, { name: "ada", hasExpired: true });
  expect(await told(expired)).toMatch(/the certificate in KUBECONFIG expired at 20\d\d-/);
  const config = JSON.parse(await readFile(expired, "utf8"));
  const file = join(cluster.folder, "other.kubeconfig");
  await writeFile(file, JSON.stringify({ ...config, users: [{ name: "test", user: { token: "wrong" } }] }));
  expect(await told(file)).toContain("the token or the certificate in KUBECONFIG is wrong, or has expired");
  const other = await Authority.create(join(cluster.folder, "other"));
  config.clusters[0].cluster["certificate-authority"] = other.files.certificate;
  await writeFile(file, JSON.stringify(config));
  expect(await told(file)).toContain("its certificate is not of the authority that KUBECONFIG names");
});
