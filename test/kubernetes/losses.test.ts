import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { askKeeper } from "../../src/kubernetes/keeper-client.ts";
import type { TestClient } from "../support/client.ts";
import { machineSpec } from "../support/machine-spec.ts";
import { VmService } from "../support/vm-service.ts";
import type { KubernetesObject } from "./api.ts";
import type { Cluster } from "./cluster.ts";
import { berth, findings } from "./doctor.ts";
import { type MachinePod, namespace, PodService } from "./pod-service.ts";

// Shortages and losses of a cluster, and how agents survive them; and agents that come from elsewhere.

const nodes = ["a", "b"];
const volumesPath = "/api/v1/persistentvolumes";
const podsPath = `/api/v1/namespaces/${namespace}/pods`;
const sleeper = "pgrep -f 'sleep 1000[0]' || echo gone";
let service: PodService;
let cluster: Cluster;
let client: TestClient;

beforeAll(async () => {
  service = await PodService.start();
  ({ cluster, client } = service);
  await client.createAgent("ann");
  await client.ask("ann", "run: echo kept > ~/note; sync; setsid sh -c 'sleep 10000' &");
});
afterAll(() => service?.[Symbol.asyncDispose]());

function inNamespace(...args: string[]): Promise<string> {
  return cluster.kubectl("--namespace", namespace, ...args);
}

interface RunningPod extends MachinePod {
  status: MachinePod["status"] & { phase: string; podIP?: string };
}

async function find<Kind>(kind: string, name: string): Promise<Kind> {
  return JSON.parse(await inNamespace("get", kind, name, "-o", "json"));
}

/** The pod of the only machine. */
async function onlyPod(): Promise<MachinePod> {
  const pods = await service.pods();
  expect(pods.length).toBe(1);
  return pods[0]!;
}

/** The name of the volume of a machine's pod. */
async function volumeOf({ metadata }: MachinePod): Promise<string> {
  return (await find<{ spec: { volumeName: string } }>("pvc", `data-${metadata.name}`)).spec.volumeName;
}

/** The doctor's findings, by the names of its checks. */
function doctor(kubeconfig: string) {
  return findings({
    KUBECONFIG: kubeconfig,
    BERTH_KUBERNETES_IMAGE: "berth.test/machine:1",
    BERTH_KUBERNETES_PULL: "Never",
  });
}

test("the doctor sees what the cluster has and lacks, with the rights of who asks", async () => {
  // The agent's and the template's, whose pod is replaced once it is made.
  const machines = async () => (await doctor(cluster.kubeconfig)).machines;
  await expect.poll(machines, { timeout: 300_000 }).toMatchObject({ found: "2 of 2 have a pod that is ready" });
  const before = await doctor(cluster.kubeconfig);
  const passed = ["API server", "namespace", "rights", "nodes", "room", "kvm", "storage", "image"];
  expect(passed.filter((name) => !before[name]?.ok).map((name) => before[name])).toEqual([]);
  expect(before.nodes!.found).toBe("2 of 2 can have machines");
  expect(before.image!.found).toContain("on 2 of 2 nodes");
  expect(before["network policies"]).toMatchObject({ ok: false, found: "none" });
  await cluster.kubectl("apply", "-f", join(import.meta.dirname, "../../deploy/kubernetes/base/namespaces.yaml"));
  for (const name of ["roles", "network-policies"]) {
    await cluster.kubectl("apply", "-f", join(import.meta.dirname, `../../deploy/kubernetes/base/${name}.yaml`));
  }
  const after = await doctor(cluster.kubeconfig);
  expect(Object.values(after).filter(({ ok }) => !ok)).toEqual([]);
  expect(after.namespace!.found).toContain("pod security restricted");
  const server = await doctor(await kubeconfigOfServer());
  expect(server.rights).toMatchObject({ ok: true });
  expect(server.nodes!.found).toContain('not looked at: nodes is forbidden: User "system:serviceaccount:berth:berth"');
}, 600_000);

/** A kubeconfig with the token of the service account that servers have. */
async function kubeconfigOfServer(): Promise<string> {
  const { secrets } = JSON.parse(await cluster.kubectl("--namespace=berth", "get", "sa", "berth", "-o", "json"));
  const secret = await cluster.kubectl("--namespace=berth", "get", "secret", secrets[0].name, "-o", "json");
  const token = Buffer.from(JSON.parse(secret).data.token, "base64").toString();
  const file = join(cluster.folder, "server.kubeconfig");
  const config = JSON.parse(await cluster.kubectl("config", "view", "--raw", "-o", "json"));
  config.users[0].user = { token };
  await writeFile(file, JSON.stringify(config), { mode: 0o600 });
  return file;
}

test("a second keeper on a machine's volume does not touch the machine that runs", async () => {
  const pod = await onlyPod();
  const id = pod.metadata.name.replace(/^machine-(.*)-0$/, "$1");
  const set = await find<{ spec: { template: { spec: object } } }>("statefulset", `machine-${id}`);
  const elsewhere = nodes.find((name) => name !== pod.spec.nodeName)!;
  const volumes = [
    { name: "tmp", emptyDir: {} },
    { name: "data", persistentVolumeClaim: { claimName: `data-${pod.metadata.name}` } },
  ];
  const spec = { ...set.spec.template.spec, restartPolicy: "Never", nodeName: elsewhere, volumes };
  await cluster.api.create(podsPath, { metadata: { name: "second" }, spec });
  try {
    const address = async () => (await find<RunningPod>("pod", "second")).status.podIP ?? "";
    await expect.poll(address).not.toBe("");
    const refused = await bootThrough(await address(), id);
    console.info("the second keeper's answer:", refused);
    expect(refused).not.toBe("booted");
  } finally {
    await inNamespace("delete", "pod", "second", "--grace-period=1");
  }
  expect(await client.ask("ann", `run: cat ~/note; ${sleeper}`)).toMatch(/kept\n\d+/);
  await client.call("POST", "/agents/ann/suspend");
  await expect.poll(() => service.pods()).toEqual([]);
  expect(await client.ask("ann", `run: cat ~/note; ${sleeper}`)).toMatch(/kept\n\d+/);
});

/** Asks a pod's keeper to boot the machine. Resolves with its refusal. */
async function bootThrough(host: string, id: string): Promise<string> {
  const token = Buffer.from((await find<{ data: { token: string } }>("secret", `machine-${id}`)).data.token, "base64");
  const address = { host, port: 7070, token: token.toString(), epoch: 1_000_000 };
  const spec = machineSpec(id, { generation: 100, restarts: 100, hostname: "ann" });
  for (let tries = 0; ; tries++) {
    try {
      await askKeeper(address, "boot", [spec]);
      return "booted";
    } catch (error) {
      // It may be starting.
      if ((error as Error).name !== "KeeperLost" || tries === 20) return (error as Error).message;
      await sleep(1_000);
    }
  }
}

test("a machine whose pod has no more memory boots from its disk, and its turn fails", async () => {
  const { spec, status } = await onlyPod();
  const node = cluster.node(spec.nodeName);
  const container = status.containerStatuses[0]!.containerID.replace("containerd://", "");
  const group = (await node.run("find", ["/sys/fs/cgroup/memory", "-type", "d", "-name", container])).trim();
  const shell = (command: string) => node.run("sh", ["-c", `cd ${group} && ${command}`]);
  console.info(
    "memory of a machine's pod:",
    await shell("cat memory.max_usage_in_bytes; grep '^total_rss ' memory.stat"),
  );
  const limit = (await shell("cat memory.limit_in_bytes")).trim();
  await shell(`echo $(($(awk '/^total_rss /{print $2}' memory.stat) + 100000000)) > memory.limit_in_bytes`);
  const { events } = await client.chat("ann", "run: head -c 900M /dev/zero | tail | wc -c");
  await shell(`echo ${limit} > memory.limit_in_bytes`);
  expect(events.at(-1)!.event).toMatchObject({ type: "response.failed", error: { code: "machine_lost" } });
  expect(await client.ask("ann", `run: cat ~/note; ${sleeper}`)).toMatch(/kept\ngone/);
});

test("an agent whose volume is missing reports it, and continues when it is back", async () => {
  await client.ask("ann", "run: setsid sh -c 'sleep 10000' &");
  const pod = await onlyPod();
  const name = await volumeOf(pod);
  const claim = () => inNamespace("get", "pvc", `data-${pod.metadata.name}`, "-o", "jsonpath={.status.phase}");
  await client.call("POST", "/agents/ann/suspend");
  await expect.poll(() => service.pods()).toEqual([]);
  const { metadata, spec } = await cluster.api.get<KubernetesObject & { spec: object }>(`${volumesPath}/${name}`);
  await cluster.kubectl("delete", "pv", name, "--wait=false");
  await cluster.kubectl("patch", "pv", name, "--patch", '{"metadata":{"finalizers":null}}');
  await expect.poll(claim).toBe("Lost");
  await expect(client.ask("ann", "run: cat ~/note")).rejects.toThrow(/no_capacity.*pvc/);
  await expect.poll(() => service.pods()).toEqual([]);
  const { annotations, name: same } = metadata;
  await cluster.api.create(volumesPath, { metadata: { name: same, annotations }, spec });
  await expect.poll(claim).toBe("Bound");
  expect(await client.ask("ann", `run: cat ~/note; ${sleeper}`)).toMatch(/kept\n\d+/);
});

test("the agent of a dead node starts elsewhere only after its pod is removed, and keeps its files", async () => {
  const pod = await onlyPod();
  await cluster.node(pod.spec.nodeName).kill();
  const { events } = await client.chat("ann", "run: cat ~/note");
  expect(events.at(-1)!.event).toMatchObject({ type: "response.failed", error: { code: "machine_lost" } });
  const failed = { status: "failed", error: { code: "machine_lost" } };
  await expect.poll(async () => (await client.call("GET", "/agents/ann")).body).toMatchObject(failed);
  await expect.poll(async () => (await onlyPod()).metadata.deletionTimestamp).toBeDefined();
  expect((await client.restartAgent("ann")).body).toMatchObject(failed);
  expect((await onlyPod()).metadata.uid).toBe(pod.metadata.uid);
  expect((await doctor(cluster.kubeconfig)).nodes!.found).toContain("1 of 2 can have machines");
  await inNamespace("delete", "pod", pod.metadata.name, "--force", "--grace-period=0");
  expect((await client.restartAgent("ann")).body).toMatchObject({ status: "ready" });
  expect((await onlyPod()).spec.nodeName).not.toBe(pod.spec.nodeName);
  expect(await client.ask("ann", `run: cat ~/note; ${sleeper}`)).toMatch(/kept\ngone/);
  await cluster.node(pod.spec.nodeName).start();
  await expect.poll(() => cluster.isReady(pod.spec.nodeName), { timeout: 120_000 }).toBe(true);
  expect(await client.ask("ann", "run: cat ~/note")).toContain("kept");
}, 600_000);

test("an agent waits for a node with room, fails with the scheduler's words, leaves no pod, and is made on request", async () => {
  const { metadata } = await onlyPod();
  const phases = async () =>
    ((await service.pods()) as RunningPod[])
      .filter(({ metadata: { name } }) => name !== metadata.name)
      .map(({ status }) => status.phase);
  await cluster.kubectl("cordon", ...nodes);
  const waiting = client.createAgent("ben");
  await expect.poll(phases).toEqual(["Pending"]);
  await cluster.kubectl("uncordon", ...nodes);
  expect((await waiting).body).toMatchObject({ name: "ben", status: "ready" });
  await client.call("DELETE", "/agents/ben");
  await expect.poll(phases).toEqual([]);
  const large = await client.createAgent("cal", { resources: { memoryMiB: 65_536 } });
  const error = { code: "no_capacity", message: expect.stringContaining("Insufficient memory") };
  expect(large.body).toMatchObject({ status: "failed", error });
  await expect.poll(phases).toEqual([]);
  await client.call("DELETE", "/agents/cal");
  await cluster.kubectl("cordon", ...nodes);
  expect((await client.createAgent("dan")).body).toMatchObject({ status: "failed", error: { code: "no_capacity" } });
  await cluster.kubectl("uncordon", ...nodes);
  expect((await client.restartAgent("dan")).body).toMatchObject({ status: "ready" });
  await client.call("DELETE", "/agents/dan");
  await expect.poll(phases).toEqual([]);
}, 600_000);

test("an agent of one machine moves into the cluster with its files, its conversation and its history", async () => {
  const archive = join(cluster.folder, "ida.berth");
  {
    await using from = await VmService.start();
    await from.client.createAgent("ida");
    expect(await from.client.ask("ida", "run: mkdir -p ~/work && echo brought > ~/work/note")).not.toBe("");
    expect(await from.client.ask("ida", "Hello")).toContain("Your message 2 of this conversation");
    const exporting = tool(from.client, "agents", "export", "ida");
    await pipeline(exporting.stdout, createWriteStream(archive));
  }
  const importing = tool(client, "agents", "import", archive);
  expect(await once(importing, "close")).toEqual([0, null]);
  expect(await client.ask("ida", "run: cat ~/work/note; hostname")).toMatch(/brought\nida/);
  expect(await client.ask("ida", "And?")).toContain("Your message 4 of this conversation");
  const turns = await client.call("GET", "/agents/ida/turns");
  expect(turns.body.data.length).toBe(4);
  await client.call("DELETE", "/agents/ida");
}, 900_000);

/** Runs `./berth` as a user of that service does. */
function tool({ url, key }: TestClient, ...args: string[]) {
  const env = { PATH: process.env.PATH, BERTH_URL: url, BERTH_API_KEY: key };
  return spawn(berth, args, { env, stdio: ["ignore", "pipe", "inherit"] });
}
