import { randomBytes } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { join, relative } from "node:path";
import { pipeline } from "node:stream/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeMachineImage } from "../../deploy/kubernetes/machine-image.ts";
import { makeServerImage } from "../../deploy/kubernetes/server-image.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/core/database/embedded.ts";
import { TestClient } from "../support/client.ts";
import { newFolder } from "../support/config.ts";
import type { Cluster } from "./cluster.ts";
import { startClusterWith } from "./cluster-with-images.ts";

// The whole service in a cluster, by the manifests of deploy/kubernetes: servers and machines are pods. PostgreSQL is
// outside the cluster.

let cluster: Cluster;
let postgres: EmbeddedPostgres;
let databaseFolder: string;
let database: Server;

beforeAll(async () => {
  cluster = await startClusterWith({
    "berth.test/server:1": makeServerImage,
    "berth.test/machine:1": makeMachineImage,
  });
  databaseFolder = await newFolder();
  postgres = await startEmbeddedPostgres(databaseFolder);
  const { hostname } = new URL(cluster.server);
  database = await relayToSocket(hostname, join(databaseFolder, ".s.PGSQL.5432"));
  const { user, password } = postgres.config;
  const address = database.address() as { port: number };
  await cluster.kubectl("create", "namespace", "berth");
  await cluster.kubectl(
    "--namespace=berth",
    "create",
    "secret",
    "generic",
    "berth",
    `--from-literal=database-url=postgres://${user}:${password}@${hostname}:${address.port}/postgres`,
    `--from-literal=secret-key=${randomBytes(32).toString("base64")}`,
  );
  await cluster.kubectl("apply", "-f", await manifests());
});
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
  database?.close();
  await postgres?.stop();
  if (databaseFolder) await rm(databaseFolder, { recursive: true });
});

/** The manifests with the images of this test, as Kubernetes 1.20 knows them. */
async function manifests(): Promise<string> {
  const folder = join(cluster.folder, "overlay");
  await mkdir(folder);
  const base = relative(folder, join(import.meta.dirname, "../../deploy/kubernetes/base"));
  await writeFile(
    join(folder, "kustomization.yaml"),
    `bases: [${base}]
images:
  - {name: berth/server, newName: berth.test/server, newTag: "1"}
patchesStrategicMerge: [patch.yaml]
`,
  );
  await writeFile(
    join(folder, "patch.yaml"),
    `apiVersion: apps/v1
kind: Deployment
metadata: {name: berth, namespace: berth}
spec: {template: {spec: {containers: [{name: server, imagePullPolicy: Never}]}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: berth, namespace: berth}
data: {BERTH_KUBERNETES_IMAGE: "berth.test/machine:1", BERTH_KUBERNETES_PULL: Never}
`,
  );
  const file = join(folder, "manifests.yaml");
  const text = await cluster.kubectl("kustomize", folder);
  await writeFile(file, text.replaceAll("apiVersion: policy/v1\n", "apiVersion: policy/v1beta1\n"));
  return file;
}

/** PostgreSQL's socket on an address that pods reach. */
async function relayToSocket(host: string, path: string): Promise<Server> {
  const server = createServer((socket) => {
    const far = connect(path);
    Promise.all([pipeline(socket, far), pipeline(far, socket)]).catch(() => {});
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return server;
}

interface Pod {
  metadata: { name: string; deletionTimestamp?: string };
  status: { podIP?: string; conditions?: { type: string; status: string }[] };
}

async function servers(): Promise<{ name: string; url: string }[]> {
  const { items } = JSON.parse(await cluster.kubectl("--namespace=berth", "get", "pods", "-o", "json")) as {
    items: Pod[];
  };
  return items
    .filter(({ metadata, status }) => {
      const isReady = status.conditions?.some((each) => each.type === "Ready" && each.status === "True");
      return isReady && !metadata.deletionTimestamp;
    })
    .map(({ metadata, status }) => ({ name: metadata.name, url: `http://${status.podIP}:7420` }));
}

async function operatorKey(): Promise<string> {
  const read = "try{console.log(require('fs').readFileSync('/data/berth/operator.key','utf8'))}catch{}";
  for (const { name } of await servers()) {
    const key = (await cluster.kubectl("--namespace=berth", "exec", name, "--", "node", "-e", read)).trim();
    if (key) return key;
  }
  throw new Error("no server has the operator's key");
}

/** The name of the server that leads. */
async function leader(): Promise<string | undefined> {
  for (const { name, url } of await servers()) {
    const metrics = await (await fetch(`${url}/metrics`)).text();
    if (/^berth_leads\b.* 1$/m.test(metrics)) return name;
  }
  return undefined;
}

test("servers in pods lead machines in pods; a killed one is replaced, and its agents continue", async () => {
  await expect.poll(async () => (await servers()).length, { timeout: 240_000, interval: 1_000 }).toBe(2);
  const key = await operatorKey();
  const [one, other] = (await servers()).map(({ url }) => new TestClient(url, key));
  const created = await one!.createAgent("ada");
  expect(created.body).toMatchObject({ name: "ada", status: "ready", image: { upgradeAvailable: false } });
  expect(await one!.ask("ada", "run: echo kept > ~/note; setsid sh -c 'sleep 10000' &")).not.toBe("");
  expect(await other!.ask("ada", "run: cat ~/note")).toContain("kept");
  const first = (await leader())!;
  await cluster.kubectl("--namespace=berth", "delete", "pod", first, "--grace-period=1");
  await expect.poll(leader).not.toBe(first);
  await expect.poll(leader, { interval: 500 }).toBeDefined();
  const left = new TestClient((await servers()).find(({ name }) => name !== first)!.url, key);
  // The machine kept running: its processes are there.
  expect(await left.ask("ada", "run: cat ~/note; pgrep -f 'sleep 1000[0]'")).toMatch(/kept\n\d+/);
  expect((await left.call("DELETE", "/agents/ada")).status).toBe(204);
  await expect
    .poll(() => cluster.kubectl("--namespace=berth-machines", "get", "pods,pvc,secrets,statefulsets", "-o", "name"))
    .not.toContain("machine-");
});
