import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { loadAllYaml, type V1ClusterRole } from "@kubernetes/client-node";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { Authority } from "../test/kubernetes/certificates.ts";
import { newFolder } from "../test/support/config.ts";
import type { Finding } from "./contract/finding.ts";
import { serverRights } from "./machines/kubernetes/doctor/access.ts";

// `berth doctor --kubernetes` against API servers that answer what is written here. test/kubernetes has a real one.

const checkout = fileURLToPath(new URL("../", import.meta.url));
const machinesPath = "/api/v1/namespaces/berth-machines";
let folder: string;
let api: Server;
/** By path: the answer's body, or a status. */
let answers: Record<string, unknown>;
/** What the one who asks may not do, such as `get nodes`. */
let refused: string[];

const node = (name: string, changes: { labels?: object; allocatable?: object; architecture?: string } = {}) => ({
  metadata: { name, labels: changes.labels ?? {} },
  spec: {},
  status: {
    conditions: [{ type: "Ready", status: "True" }],
    nodeInfo: { operatingSystem: "linux", architecture: changes.architecture ?? "amd64" },
    allocatable: { cpu: "4", memory: "16306844Ki", ...changes.allocatable },
    images: [{ names: ["registry.example/berth/machine:1"] }],
  },
});

beforeAll(async () => {
  folder = await newFolder();
  api = await listen(createServer(answer));
  await writeFile(join(folder, "http"), kubeconfig(api, "http", { "insecure-skip-tls-verify": true }));
});
beforeEach(() => {
  refused = [];
  answers = {
    "/version": { major: "1", minor: "20", gitVersion: "v1.20.2" },
    [machinesPath]: {
      metadata: { name: "berth-machines", labels: { "pod-security.kubernetes.io/enforce": "restricted" } },
    },
    "/api/v1/nodes": { items: [node("a"), node("b")] },
    "/apis/storage.k8s.io/v1/storageclasses": {
      items: [
        {
          metadata: { name: "fast", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
          provisioner: "ebs.csi.aws.com",
          volumeBindingMode: "WaitForFirstConsumer",
        },
        { metadata: { name: "files" }, provisioner: "nfs.csi.k8s.io", reclaimPolicy: "Retain" },
      ],
    },
    "/apis/storage.k8s.io/v1/csidrivers": {
      items: [
        { metadata: { name: "ebs.csi.aws.com" }, spec: { attachRequired: true } },
        { metadata: { name: "nfs.csi.k8s.io" }, spec: { attachRequired: false } },
      ],
    },
    "/apis/networking.k8s.io/v1/namespaces/berth-machines/networkpolicies": {
      items: [
        { metadata: { name: "machines" }, spec: { podSelector: {}, policyTypes: ["Ingress", "Egress"], egress: [] } },
      ],
    },
    [`${machinesPath}/pods`]: { items: [] },
    [`${machinesPath}/events`]: { items: [] },
    "/apis/apps/v1/namespaces/berth-machines/statefulsets": { items: [] },
  };
});
afterAll(async () => {
  api.close();
  await rm(folder, { recursive: true });
});

const answer: RequestListener = async (request, response) => {
  const [path] = request.url!.split("?");
  const told = path!.endsWith("/selfsubjectaccessreviews") ? await review(await json(request)) : answers[path!];
  response.setHeader("content-type", "application/json");
  response.statusCode = typeof told === "number" ? told : 200;
  response.end(JSON.stringify(typeof told === "number" ? { kind: "Status", message: `${path} is forbidden` } : told));
};

async function review(asked: unknown): Promise<unknown> {
  const { verb, resource } = (asked as { spec: { resourceAttributes: Record<string, string> } }).spec
    .resourceAttributes;
  return { spec: {}, status: { allowed: !refused.includes(`${verb} ${resource}`) } };
}

async function listen<Kind extends Server>(server: Kind): Promise<Kind> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return server;
}

function kubeconfig(server: Server, protocol: string, trust: object, user: object = { token: "secret" }): string {
  const { port } = server.address() as AddressInfo;
  return JSON.stringify({
    clusters: [{ name: "test", cluster: { server: `${protocol}://127.0.0.1:${port}`, ...trust } }],
    users: [{ name: "test", user }],
    contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
    "current-context": "test",
  });
}

interface Told {
  code: number;
  stdout: string;
  stderr: string;
}

function doctor(environment: Record<string, string>, args: string[] = []): Promise<Told> {
  const env = { PATH: process.env.PATH, KUBECONFIG: join(folder, "http"), ...environment };
  return new Promise((resolve) => {
    execFile(join(checkout, "berth"), ["doctor", "--kubernetes", ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}

/** By the checks' names. */
async function findings(environment: Record<string, string> = {}): Promise<Record<string, Finding>> {
  const { stdout, stderr } = await doctor(environment, ["--json"]);
  expect(stderr).toBe("");
  const all = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Finding);
  return Object.fromEntries(all.map((each) => [each.name, each]));
}

test("a cluster that has everything passes, with what cannot be seen from its API", async () => {
  const { code, stdout, stderr } = await doctor({ BERTH_KUBERNETES_IMAGE: "registry.example/berth/machine:1" });
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).not.toContain("✘");
  expect(stdout).toContain("✔ API server       Kubernetes v1.20.2 at http://127.0.0.1");
  expect(stdout).toContain("✔ storage          fast, by ebs.csi.aws.com, WaitForFirstConsumer\n✔");
  expect(stdout).toContain("✔ network policies machines\n    Whether anything in the cluster enforces");
  expect(stdout).toContain("on 2 of 2 nodes");
});

test("the rights that it asks for are those of the manifests", async () => {
  const text = await readFile(join(checkout, "deploy/kubernetes/base/roles.yaml"), "utf8");
  const roles = loadAllYaml(text) as V1ClusterRole[];
  const granted = roles.flatMap(({ kind, rules = [] }) =>
    rules.flatMap(({ apiGroups = [], resources = [], verbs }) =>
      resources.map((resource) => ({ group: apiGroups[0], resource, verbs, isNamespaced: kind === "Role" })),
    ),
  );
  expect(granted).toEqual(serverRights);
});

test("what is missing is told with what mends it, and what may not be looked at is no problem", async () => {
  refused = ["create statefulsets", "get nodes"];
  answers[machinesPath] = 404;
  answers["/apis/storage.k8s.io/v1/storageclasses"] = { items: [] };
  answers["/apis/networking.k8s.io/v1/namespaces/berth-machines/networkpolicies"] = { items: [] };
  answers["/api/v1/nodes"] = 403;
  const { code, stdout } = await doctor({});
  expect(code).toBe(1);
  expect(stdout).toContain("The namespace berth-machines is not there.\n    to mend it: kubectl apply -k");
  expect(stdout).toContain("✘ rights           12 of 14\n    Who asks may not create statefulsets, get nodes.\n");
  expect(stdout).toContain("✔ nodes            not looked at: /api/v1/nodes is forbidden\n");
  expect(stdout).toContain("✘ storage          no storage class\n");
  expect(stdout).toContain("✘ network policies none\n");
});

test("nodes: which can have machines, how many, of which processors, with or without KVM", async () => {
  answers["/api/v1/nodes"] = { items: [node("a", { architecture: "arm64" }), node("b")] };
  expect((await findings()).nodes).toMatchObject({ ok: true, found: "1 of 2 can have machines; a is linux arm64" });
  const small = { allocatable: { memory: "2Gi" } };
  answers["/api/v1/nodes"] = { items: [node("a", small), node("b", small)] };
  expect((await findings()).room).toMatchObject({ ok: false, problem: "No node has the memory of one agent." });
  const kvm = "devices.kubevirt.io/kvm";
  const model = (id: string) => ({ "feature.node.kubernetes.io/cpu-model.id": id });
  answers["/api/v1/nodes"] = {
    items: [
      node("a", { labels: model("85"), allocatable: { [kvm]: "110" } }),
      node("b", { labels: model("106"), allocatable: { [kvm]: "110" } }),
    ],
  };
  const offered = await findings();
  expect(offered.kvm).toMatchObject({ ok: true, note: `Nodes offer ${kvm}: set BERTH_KUBERNETES_KVM to it.` });
  expect(offered.processors).toMatchObject({ ok: true, found: "85; 106", note: expect.stringContaining("may differ") });
  expect((await findings({ BERTH_KUBERNETES_KVM: kvm })).kvm).toMatchObject({
    ok: true,
    found: `${kvm} on 2 of 2 nodes, for 220 machines`,
  });
  expect((await findings({ BERTH_KUBERNETES_KVM: "squat.ai/kvm" })).kvm).toMatchObject({ ok: false });
});

test("a storage class whose volumes two nodes can have at once is told of, and one that is not there fails", async () => {
  const files = (await findings({ BERTH_KUBERNETES_STORAGE_CLASS: "files" })).storage!;
  expect(files).toMatchObject({ ok: true, found: "files, by nfs.csi.k8s.io, Immediate" });
  expect(files.note).toContain("Two nodes can have one volume at once");
  expect(files.note).toContain("The volumes of deleted agents stay");
  const none = (await findings({ BERTH_KUBERNETES_STORAGE_CLASS: "slow" })).storage!;
  expect(none).toMatchObject({ ok: false, problem: "There is no storage class slow." });
});

test("pods that cannot have their image, and machines that wait, are told of with the cluster's words", async () => {
  const labels = { "berth.dev/machine": "x" };
  const waiting = (name: string, reason: string, message?: string) => ({
    metadata: { name, labels },
    status: { containerStatuses: [{ name: "keeper", state: { waiting: { reason, message } } }] },
  });
  const condition = {
    type: "PodScheduled",
    status: "False",
    message: "0/2 nodes are available: 2 Insufficient memory.",
  };
  answers[`${machinesPath}/pods`] = {
    items: [
      waiting("machine-a-0", "ImagePullBackOff", 'Back-off pulling image "berth/machine:1"'),
      waiting("machine-b-0", "ContainerCreating"),
      { metadata: { name: "machine-c-0", labels }, status: { conditions: [condition] } },
    ],
  };
  const event = (name: string, message: string) => ({ metadata: {}, involvedObject: { name }, message });
  answers[`${machinesPath}/events`] = {
    items: [event("machine-b-0", "Multi-Attach error for volume"), event("machine-d", "exceeded quota")],
  };
  answers["/apis/apps/v1/namespaces/berth-machines/statefulsets"] = {
    items: ["a", "b", "c", "d"].map((id) => ({ metadata: { name: `machine-${id}`, labels }, spec: { replicas: 1 } })),
  };
  const { image, machines } = await findings();
  expect(image).toMatchObject({ ok: false, problem: 'machine-a-0: Back-off pulling image "berth/machine:1".' });
  expect(machines!.problem).toBe(
    "machine-d-0 is not made: exceeded quota; machine-b-0 waits: Multi-Attach error for volume; machine-c-0 waits: 0/2 nodes are available: 2 Insufficient memory.",
  );
});

test("a cluster that cannot be asked is one clear line", async () => {
  const problemWith = async (environment: Record<string, string>) => {
    const { code, stdout, stderr } = await doctor(environment);
    expect([code, stderr, stdout.match(/✘/g)?.length]).toEqual([1, "", 1]);
    return stdout;
  };
  const file = async (name: string, text: string) => {
    await writeFile(join(folder, name), text);
    return { KUBECONFIG: join(folder, name) };
  };
  expect(await problemWith({ KUBECONFIG: "" })).toContain("KUBECONFIG is not set, and this is no pod");
  expect(await problemWith({ KUBECONFIG: join(folder, "none") })).toContain("no such file");
  expect(await problemWith(await file("empty", ""))).toContain("KUBECONFIG cannot be read");
  expect(await problemWith(await file("list", "a: [b"))).toContain("KUBECONFIG cannot be read");
  expect(await problemWith(await file("other", "clusters: []"))).toContain("names none");
  expect(await problemWith({ BERTH_KUBERNETES_NAMESPACE: "Machines" })).toContain("small letters");
  const gone = await listen(createServer());
  const lost = await file("lost", kubeconfig(gone, "https", {}));
  gone.close();
  expect(await problemWith(lost)).toContain("nothing listens there");
  answers["/version"] = 401;
  expect(await problemWith({})).toContain("the token or the certificate in KUBECONFIG is wrong, or has expired");
  answers["/version"] = 502;
  expect(await problemWith({})).toContain("/version is forbidden");
});

test("certificates: the server's that expired or is another's, the client's that expired", async () => {
  const authority = await Authority.create(join(folder, "pki"));
  const other = await Authority.create(join(folder, "other-pki"));
  const serve = async (file: string, hasExpired: boolean) => {
    const subject = { name: "api", addresses: ["127.0.0.1"], ...(hasExpired ? { hasExpired } : {}) };
    const { certificate, key } = await authority.certify(file, subject);
    return listen(createTlsServer({ cert: await readFile(certificate), key: await readFile(key) }, answer));
  };
  await using servers = new AsyncDisposableStack();
  const expired = servers.adopt(await serve("expired", true), (server) => void server.close());
  const good = servers.adopt(await serve("good", false), (server) => void server.close());
  const told = async (server: Server, trusted: Authority, user?: object) => {
    const trust = { "certificate-authority": trusted.files.certificate };
    await writeFile(join(folder, "tls"), kubeconfig(server, "https", trust, user));
    return (await doctor({ KUBECONFIG: join(folder, "tls") })).stdout;
  };
  expect(await told(expired, authority)).toContain("its certificate has expired");
  expect(await told(good, other)).toContain("its certificate is not of the authority that KUBECONFIG names");
  const { certificate, key } = await authority.certify("ada", { name: "ada", hasExpired: true });
  const ada = { "client-certificate": certificate, "client-key": key };
  answers["/version"] = 401;
  expect(await told(good, authority, ada)).toMatch(/the certificate in KUBECONFIG expired at 20\d\d-/);
});
