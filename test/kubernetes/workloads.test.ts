import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { KubernetesObject } from "./api.ts";
import { Cluster } from "./cluster.ts";
import { makeBusyboxImage } from "./images.ts";
import { createSet, findPod, inPod, type Pod, placeSet, podsPath, readyPod } from "./workloads.ts";

// That the cluster is what a driver needs: pods on two nodes with volumes, addresses and rights.

let cluster: Cluster;
let pods: Pod[];
beforeAll(async () => {
  cluster = await Cluster.start({ nodes: 2 });
  const archive = join(cluster.folder, "busybox.tar");
  await makeBusyboxImage(archive);
  await cluster.load(archive);
  await createSet(cluster, "pair", { replicas: 2 });
  pods = [await readyPod(cluster, "pair-0"), await readyPod(cluster, "pair-1")];
});
afterAll(() => cluster?.[Symbol.asyncDispose]());

test("both nodes are Ready, and a set's pods run on each", async () => {
  expect([await cluster.isReady("a"), await cluster.isReady("b")]).toEqual([true, true]);
  expect(pods.map(({ spec }) => spec.nodeName).sort()).toEqual(["a", "b"]);
});

test("pods of two nodes reach each other by address and by a service's address, and so does this machine", async () => {
  await inPod(cluster, "pair-0", "echo I am zero >/data/name");
  await inPod(cluster, "pair-1", "echo I am one >/data/name");
  const [zero, one] = pods.map(({ status }) => status.podIP!);
  expect(await inPod(cluster, "pair-0", `wget -qO- http://${one}:8080/name`)).toBe("I am one\n");
  expect(await inPod(cluster, "pair-1", `wget -qO- http://${zero}:8080/name`)).toBe("I am zero\n");
  expect(await (await fetch(`http://${one}:8080/name`)).text()).toBe("I am one\n");

  const service = await cluster.api.create<KubernetesObject & { spec: { clusterIP: string } }>(
    "/api/v1/namespaces/default/services",
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "one" },
      spec: { selector: { "statefulset.kubernetes.io/pod-name": "pair-1" }, ports: [{ port: 80, targetPort: 8080 }] },
    },
  );
  for (const pod of ["pair-0", "pair-1"]) {
    const ask = `wget -qO- http://${service.spec.clusterIP}/name || true`;
    await expect.poll(() => inPod(cluster, pod, ask)).toBe("I am one\n");
  }
});

test("a pod reaches the API server by its service's address, with no more rights than its account has", async () => {
  const ask = (path: string) => {
    const token = '--header "Authorization: Bearer $(cat /var/run/secrets/kubernetes.io/serviceaccount/token)"';
    const url = `https://$KUBERNETES_SERVICE_HOST${path}`;
    return inPod(cluster, "pair-0", `wget -qO- --no-check-certificate ${token} ${url} 2>&1 || true`);
  };
  expect(await ask("/version")).toContain('"minor": "20"');
  expect(await ask(podsPath)).toContain("403 Forbidden");
});

test("a restricted pod has no rights, and cannot get any", async () => {
  const status = await inPod(cluster, "pair-0", "id -u; id -g; cat /proc/self/status; touch /here 2>&1 || true");
  expect(status).toMatch(/^1000\n1000\n/);
  expect(status).toMatch(/^CapEff:\s+0+$/m);
  expect(status).toMatch(/^CapBnd:\s+0+$/m);
  expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
  expect(status).toMatch(/^Seccomp:\s+2$/m);
  expect(status).toContain("/here: Read-only file system");
});

test("a volume's files are there after its pod has moved to the other node", async () => {
  await createSet(cluster, "mover", { node: "a" });
  expect((await readyPod(cluster, "mover-0")).spec.nodeName).toBe("a");
  await inPod(cluster, "mover-0", "echo kept >/data/file");
  await placeSet(cluster, "mover", "b");
  await expect.poll(async () => (await findPod(cluster, "mover-0"))?.spec.nodeName).toBe("b");
  await readyPod(cluster, "mover-0");
  expect(await inPod(cluster, "mover-0", "cat /data/file")).toBe("kept\n");
});

test("a volume is deleted with its claim", async () => {
  const volumes = "/api/v1/persistentvolumes";
  const count = async () => (await cluster.api.get<{ items: unknown[] }>(volumes)).items.length;
  const before = await count();
  await cluster.api.delete("/apis/apps/v1/namespaces/default/statefulsets/mover");
  await expect.poll(() => findPod(cluster, "mover-0")).toBe(null);
  await cluster.api.delete("/api/v1/namespaces/default/persistentvolumeclaims/data-mover-0");
  await expect.poll(count).toBe(before - 1);
});
